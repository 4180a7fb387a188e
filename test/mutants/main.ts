/**
 * Mutation testing: changes the sources one place at a time, in a copy, and looks whether a test fails.
 * What it does and does not say: docs/design/testing.md.
 *
 *   npm run mutants -- --files=src/resources/notes,src/resources/access.ts --most=50 --seconds=600
 */
import { spawn } from 'node:child_process'
import { cp, glob, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutants.ts'

/** A change that makes a test hang is noticed as well. */
const TEST_RUN_MS = 180_000
/** They walk all endpoints by name; a fuzzer would only make the same runs longer. */
const CONTRACT_TESTS = ['problems', 'endpoints', 'permissions'].map((name) => `test/contract/${name}.test.ts`)

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/resources,src/platform/operations' },
    most: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '1800' },
  },
})
const endsAt = Date.now() + Number(values.seconds) * 1000
const root = resolve(import.meta.dirname, '../..')

const copy = await mkdtemp(join(tmpdir(), 'stead-mutants-'))
try {
  await copyTo(copy)
  const files = await sourcesOf(values.files.split(','))
  const all = await mutantsOfFiles(files)
  const mutants = spread(all, Number(values.most))
  console.log(`${all.length} mutants of ${files.length} files; at most ${mutants.length} are tried`)
  report(await tried(mutants))
} finally {
  await rm(copy, { recursive: true, force: true })
}

async function copyTo(folder: string): Promise<void> {
  for (const name of ['src', 'test', 'migrations', 'openapi', 'docs', 'bin'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  for (const name of ['package.json', 'tsconfig.json', 'vitest.config.ts'])
    await cp(join(root, name), join(folder, name))
  for (const name of ['node_modules', 'third-party']) await symlink(join(root, name), join(folder, name))
}

async function sourcesOf(asked: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const path of asked) {
    const isFolder = (await stat(join(root, path))).isDirectory()
    for await (const file of glob(isFolder ? `${path}/**/*.ts` : path, { cwd: root }))
      if (!/(\.test|\.fixture|\/harness)\.ts$/.test(file)) found.add(file)
  }
  return [...found].sort()
}

async function mutantsOfFiles(files: readonly string[]): Promise<Mutant[]> {
  const lists = files.map(async (file) => mutantsOf(file, await readFile(join(root, file), 'utf8')))
  return (await Promise.all(lists)).flat()
}

/** Evenly from the whole list, so that a bounded run says something of all files, and the same each time. */
function spread<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as Item)
}

interface Verdict {
  readonly mutant: Mutant
  readonly isCaught: boolean
}

async function tried(mutants: readonly Mutant[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const sound = new Set<string>()
  for (const mutant of mutants) {
    if (Date.now() > endsAt) break
    if (!sound.has(mutant.file) && (await isCaught(mutant.file)))
      throw new Error(`The tests of ${mutant.file} fail without any change`)
    sound.add(mutant.file)
    const original = await readFile(join(copy, mutant.file), 'utf8')
    await writeFile(join(copy, mutant.file), mutant.text)
    const verdict = { mutant, isCaught: await isCaught(mutant.file) }
    await writeFile(join(copy, mutant.file), original)
    verdicts.push(verdict)
    console.log(`${verdict.isCaught ? 'caught  ' : 'SURVIVED'} ${mutant.file}:${mutant.line} ${mutant.what}`)
  }
  return verdicts
}

/** Whether a test fails: those of the file's folder first, then the contract tests of its endpoint, or of its folder's. */
async function isCaught(file: string): Promise<boolean> {
  const folder = dirname(file)
  if (await fails(['run', `${folder}/`])) return true
  const own = await endpointsIn([file])
  const ids = own.length > 0 ? own : await endpointsIn(await sourcesOf([folder]))
  return ids.length > 0 && fails(['run', ...CONTRACT_TESTS, '--testNamePattern', `\\b(${ids.join('|')})\\b`])
}

/** The endpoints of the API that are declared there, in the sources as they are. */
async function endpointsIn(files: readonly string[]): Promise<string[]> {
  const sources = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  return sources.flatMap((source) => /^ {2}id: '(\w+)',$/m.exec(source)?.[1] ?? [])
}

function fails(args: readonly string[]): Promise<boolean> {
  const options = ['--project', 'unit', '--bail', '1', '--maxWorkers', '1', '--passWithNoTests', '--reporter', 'dot']
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  // one database is enough, and no server is needed
  const { TEST_POSTGRES_URL: _, ...env } = process.env
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [vitest, ...args, ...options], { cwd: copy, env, stdio: 'ignore' })
    const late = setTimeout(() => child.kill('SIGKILL'), TEST_RUN_MS)
    child.once('error', failed)
    child.once('exit', (code) => {
      clearTimeout(late)
      done(code !== 0)
    })
  })
}

function report(verdicts: readonly Verdict[]): void {
  const folders = Map.groupBy(verdicts, ({ mutant }) => dirname(mutant.file))
  for (const [folder, ofFolder] of [...folders, ['all', verdicts] as const]) {
    const caught = ofFolder.filter((each) => each.isCaught).length
    const percent = Math.round((100 * caught) / Math.max(1, ofFolder.length))
    console.log(`${folder}: ${caught} of ${ofFolder.length} caught (${percent} %)`)
  }
  for (const { mutant, isCaught: wasCaught } of verdicts)
    if (!wasCaught) console.log(`survived: ${mutant.file}:${mutant.line} ${mutant.what}`)
}
