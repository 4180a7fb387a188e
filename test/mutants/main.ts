/**
 * Mutation testing: changes the sources one place at a time, in memory, and checks whether a test fails.
 * docs/design/testing.md describes what it shows.
 *
 *   npm run mutants -- --files=src/resources/notes,src/resources/access/access.ts:57 --most=50 --offset=7 --seconds=600
 *   npm run mutants -- --most=200 --from=69    continues with the 69th of 200
 *   npm run mutants -- --files=src/resources/notes --elsewhere
 *   npm run mutants -- --files=src/resources/notes --unreached
 */
import { glob, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutants.ts'
import { openTests, type Verdict } from './tests.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/resources,src/platform/operations' },
    most: { type: 'string', default: '100' },
    offset: { type: 'string', default: '0' },
    from: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1800' },
    unreached: { type: 'boolean', default: false },
    elsewhere: { type: 'boolean', default: false },
  },
})
const root = resolve(import.meta.dirname, '../..')

const all = (await Promise.all((await sourcesOf(values.files.split(','))).map(mutantsIn))).flat()
const mutants = values.unreached
  ? all
  : spread(all, Number(values.most), Number(values.offset)).slice(Number(values.from) - 1)
console.log(`${all.length} mutants; ${values.unreached ? 'none is' : `at most ${mutants.length} are`} tried`)
const tests = await openTests(root, mutants)
try {
  if (values.unreached) listUnreached(await tests.unreached())
  else await tryAll()
} finally {
  await tests.close()
}

interface Source {
  readonly file: string
  /** Limits the mutants to these lines, from 1. */
  readonly line?: number
}

async function sourcesOf(asked: readonly string[]): Promise<Source[]> {
  const found = new Map<string, Source>()
  for (const each of asked) {
    const [path = '', line] = each.split(':')
    const isFolder = (await stat(join(root, path))).isDirectory()
    for await (const file of glob(isFolder ? `${path}/**/*.ts` : path, { cwd: root }))
      if (!/(\.test|\.fixture|\.contract|\/harness)\.ts$/.test(file))
        found.set(file + line, { file, line: Number(line) || undefined })
  }
  return [...found.values()].sort((left, right) => (left.file < right.file ? -1 : 1))
}

async function mutantsIn({ file, line }: Source): Promise<Mutant[]> {
  const mutants = mutantsOf(file, await readFile(join(root, file), 'utf8'))
  return line ? mutants.filter((mutant) => mutant.line === line) : mutants
}

/** Samples evenly from the complete list, so that a bounded run covers all files. Another offset takes others. */
function spread<Item>(items: readonly Item[], most: number, offset: number): Item[] {
  const taken = Math.min(most, items.length)
  const first = offset % Math.max(1, Math.floor(items.length / Math.max(1, taken)))
  return Array.from({ length: taken }, (_, index) => items[first + Math.floor((index * items.length) / taken)] as Item)
}

/** Runs the tests beside each file first, then tests elsewhere on survivors, with the same time again. */
async function tryAll(): Promise<void> {
  const verdicts = await told(tests.verdicts(), Number(values.seconds))
  report(verdicts)
  console.log(`not tried: ${mutants.length - verdicts.length}`)
  const survivors = verdicts.filter(({ outcome }) => outcome === 'survived').map(({ mutant }) => mutant)
  if (survivors.length === 0 || !values.elsewhere) return
  console.log(`\n${survivors.length} survivors, by tests elsewhere`)
  report(await told(tests.elsewhere(survivors), Number(values.seconds)))
}

async function told(asked: AsyncIterable<Verdict>, seconds: number): Promise<Verdict[]> {
  const endsAt = Date.now() + seconds * 1000
  const verdicts: Verdict[] = []
  for await (const verdict of asked) {
    verdicts.push(verdict)
    const { mutant, outcome, by } = verdict
    const outcomes = { caught: 'caught  ', survived: 'SURVIVED', untold: 'UNTOLD  ' }
    console.log(`${outcomes[outcome]} ${mutant.file}:${mutant.line} ${mutant.what}${by ? ` (${by})` : ''}`)
    if (Date.now() > endsAt) break
  }
  return verdicts
}

function listUnreached(unreached: readonly Mutant[]): void {
  console.log(`${unreached.length} are come by by no test that may judge them`)
  for (const { file, line, what } of unreached) console.log(`${file}:${line} ${what}`)
}

function report(verdicts: readonly Verdict[]): void {
  const folders = Map.groupBy(verdicts, ({ mutant }) => dirname(mutant.file))
  for (const [folder, ofFolder] of [...folders, ['all', verdicts] as const]) {
    const count = (asked: Verdict['outcome']) => ofFolder.filter(({ outcome }) => outcome === asked).length
    const told = ofFolder.length - count('untold')
    const percent = Math.round((100 * count('caught')) / Math.max(1, told))
    const untold = count('untold') > 0 ? `, ${count('untold')} untold` : ''
    console.log(`${folder}: ${count('caught')} of ${told} caught (${percent} %)${untold}`)
  }
  for (const { mutant, outcome } of verdicts)
    if (outcome !== 'caught') console.log(`${outcome}: ${mutant.file}:${mutant.line} ${mutant.what}`)
}
