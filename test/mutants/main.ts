/**
 * Mutation testing: changes the sources one place at a time, in memory, and looks whether a test fails.
 * What it does and does not say: docs/design/testing.md.
 *
 *   npm run mutants -- --files=src/resources/notes,src/resources/access.ts --most=50 --offset=7 --seconds=600
 */
import { glob, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutants.ts'
import { openTests } from './tests.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/resources,src/platform/operations' },
    most: { type: 'string', default: '100' },
    offset: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '1800' },
  },
})
const endsAt = Date.now() + Number(values.seconds) * 1000
const root = resolve(import.meta.dirname, '../..')

const files = await sourcesOf(values.files.split(','))
const all = (await Promise.all(files.map(mutantsIn))).flat()
const mutants = spread(all, Number(values.most), Number(values.offset))
console.log(`${all.length} mutants of ${files.length} files; at most ${mutants.length} are tried`)
const tests = await openTests(root)
try {
  report(await tried(mutants))
} finally {
  await tests.close()
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

async function mutantsIn(file: string): Promise<Mutant[]> {
  return mutantsOf(file, await readFile(join(root, file), 'utf8'))
}

/** Evenly from the whole list, so that a bounded run says something of all files; another offset takes others. */
function spread<Item>(items: readonly Item[], most: number, offset: number): Item[] {
  const taken = Math.min(most, items.length)
  const first = offset % Math.max(1, Math.floor(items.length / Math.max(1, taken)))
  return Array.from({ length: taken }, (_, index) => items[first + Math.floor((index * items.length) / taken)] as Item)
}

interface Verdict {
  readonly mutant: Mutant
  readonly isCaught: boolean
}

async function tried(mutants: readonly Mutant[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const mutant of mutants) {
    if (Date.now() > endsAt) break
    const failure = await tests.failureOf(mutant)
    verdicts.push({ mutant, isCaught: failure !== undefined })
    console.log(`${failure ? 'caught  ' : 'SURVIVED'} ${mutant.file}:${mutant.line} ${mutant.what} ${failure ?? ''}`)
  }
  const anyway = await tests.failureWithout()
  if (anyway) throw new Error(`Of what has caught a change, something fails without any: ${anyway}`)
  return verdicts
}

function report(verdicts: readonly Verdict[]): void {
  const folders = Map.groupBy(verdicts, ({ mutant }) => dirname(mutant.file))
  for (const [folder, ofFolder] of [...folders, ['all', verdicts] as const]) {
    const caught = ofFolder.filter((each) => each.isCaught).length
    const percent = Math.round((100 * caught) / Math.max(1, ofFolder.length))
    console.log(`${folder}: ${caught} of ${ofFolder.length} caught (${percent} %)`)
  }
  for (const { mutant, isCaught } of verdicts)
    if (!isCaught) console.log(`survived: ${mutant.file}:${mutant.line} ${mutant.what}`)
}
