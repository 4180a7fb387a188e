/**
 * Runs tiers of the tests, one after the other. A failed file runs once more without others. If it passes then, the run
 * passes and says so.
 *
 *   node test/tiers/main.ts quick
 *   node test/tiers/main.ts databases wordpress system
 *   node test/tiers/main.ts all
 *   node test/tiers/main.ts changed [<commit>]    unit tests that a change since the commit (origin/main) can reach
 *   node test/tiers/main.ts shuffle [<seed>]      the unit tests with their files in a random order
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changesSince } from '../support/changes.ts'
import { openPlace, type Place } from './place.ts'
import type { RunReport } from './reporter.ts'
import { postgres, type Tier, tierOf, tiers } from './tiers.ts'
import { thisTurn } from './turns.ts'
import { countLine, together, toRunAgain, type Verdict, verdictOf } from './verdict.ts'

const root = join(import.meta.dirname, '../..')
const [asked = 'quick', ...more] = process.argv.slice(2)

const names =
  asked === 'all'
    ? tiers.map(({ name }) => name)
    : ['changed', 'shuffle'].includes(asked)
      ? ['quick']
      : [asked, ...more]
const askedTiers = names.map(tierOf)
const place = await openPlace(askedTiers.some(({ needs }) => needs.includes(postgres)))
let verdict: Verdict
try {
  verdict = await runAsked()
} finally {
  await place.close()
}
for (const line of verdict.lines) console.log(line)
console.log(countLine(verdict))
process.exitCode = verdict.hasPassed ? 0 : 1

async function runAsked(): Promise<Verdict> {
  if (asked === 'shuffle') return runShuffled(more[0] ?? String(Date.now() % 1_000_000))
  if (asked === 'changed') return runTier(place, tierOf('quick'), ['--changed', more[0] ?? changesSince()])
  const verdicts: Verdict[] = []
  for (const tier of askedTiers) verdicts.push(await runTier(place, tier))
  sayWhatDidNotRun()
  return together(verdicts)
}

function sayWhatDidNotRun(): void {
  const left = tiers.filter((tier) => !askedTiers.includes(tier))
  const { turns } = thisTurn()
  if (left.length === 0 && turns === 1) return
  console.log('\nNot run:')
  if (turns > 1)
    console.log(
      '  TEST_TURNS'.padEnd(26),
      `of wordpress and system, files whose turn is another of ${turns}; test:all has them`,
    )
  for (const { name, proves } of left) console.log(`  npm run test:${name}`.padEnd(26), proves)
  if (names.includes('quick'))
    console.log(
      '  TEST_LONG=1 npm test'.padEnd(26),
      'contract walks on every endpoint, and what only chance finds, at length',
    )
  console.log('  npm run test:all'.padEnd(26), 'every tier')
}

async function runShuffled(seed: string): Promise<Verdict> {
  console.log(`The order of files is TEST_SHUFFLE=${seed}: npm run test:shuffle -- ${seed}`)
  const quick = tierOf('quick')
  return runTier(place, { ...quick, env: { ...quick.env, TEST_SHUFFLE: seed } })
}

async function runTier({ env: ofPlace }: Place, tier: Tier, words: readonly string[] = []): Promise<Verdict> {
  console.log(`\n== ${tier.name}: ${tier.proves}`)
  for (const { what, how } of tier.needs.filter((need) => !need.isHere()))
    console.log(`SKIPPED: tests that need ${what} (${how})`)
  await using program = tier.startsProgram ? buildProgram() : undefined
  const env = { ...process.env, ...ofPlace, ...tier.env, ...(program && { TEST_PROGRAM: program.launcher }) }
  const projects = tier.projects.map((project) => `--project=${project}`)
  const first = await runVitest([...projects, ...words], env)
  sayWhatTookLong(tier, first)
  const second = new Map<string, RunReport | undefined>()
  for (const { file, project } of first ? toRunAgain(first) : []) {
    console.log(`\n== ${file} failed; once more, alone`)
    second.set(file, await runVitest([`--project=${project}`, '--maxWorkers=1', file], env))
  }
  return verdictOf(first, second)
}

function sayWhatTookLong({ name }: Tier, report: RunReport | undefined): void {
  const longest = (report?.longest ?? []).filter(({ seconds }) => seconds > 0)
  if (longest.length === 0) return
  console.log(`\nFiles of ${name} that took longest, in seconds, and their processor time:`)
  for (const { file, seconds, processorSeconds = 0 } of longest)
    console.log(`${seconds}`.padStart(6), `${Math.round(processorSeconds)}`.padStart(6), file)
}

/** Builds the code as in the package, which is what people run. A start costs half of one from the sources. */
function buildProgram(): { launcher: string } & AsyncDisposable {
  // It is below node_modules, whose packages it uses. The name may contain characters that URLs would decode.
  const folder = join(root, `node_modules/.cache/program-%23-${process.pid}`)
  execFileSync(process.execPath, [join(root, 'packaging/build.js'), '--program', folder], { stdio: 'inherit' })
  return {
    launcher: join(folder, 'bin/stead.js'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

/** @returns undefined when the run ended without a report */
async function runVitest(words: readonly string[], env: NodeJS.ProcessEnv): Promise<RunReport | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-report-'))
  const report = join(folder, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'reporter.ts')}`]
  const child = spawn(process.execPath, [vitest, 'run', '--passWithNoTests', ...reporters, ...words], {
    cwd: root,
    env: { ...env, TEST_REPORT: report },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await new Promise((resolve) => child.once('close', resolve))
  const text = await readFile(report, 'utf8').catch(() => undefined)
  await rm(folder, { recursive: true })
  return text && JSON.parse(text)
}
