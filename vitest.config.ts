import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { leftToSystem, longFiles } from './test/tiers/long-files.ts'
import { startFirst } from './test/tiers/start-first.ts'
import { leftToOtherTurns } from './test/tiers/turns.ts'

// `npx vitest src/resources/notes` runs the tests that you work on. The tiers and their projects: test/tiers/tiers.ts.

/** Tests that start real PHP or MariaDB. They wait most of the time, and need a few hundred MB. */
const wordpress = [
  'test/*.test.ts',
  'src/hosting/{php,core-library,site-directories}/**/*.test.ts',
  'src/hosting/mariadb/**/*.test.ts',
  'src/hosting/cron/cron-wordpress.test.ts',
  'src/hosting/page-measure/{compare-pictures,measure-page,print-page,take-pictures}.test.ts',
  'src/hosting/php-log/follower-php.test.ts',
  'src/hosting/site-database/content.test.ts',
  'src/hosting/site-database/plugin-schema.test.ts',
  'src/hosting/site-database/round-trip.test.ts',
  'src/hosting/site-database/same-answers.test.ts',
]

/** Tests that start the complete program, browsers, or processes to kill. */
const system = ['test/{e2e,faults,machines}/**/*.test.ts', 'src/platform/operations/kill.test.ts']

/** The only real site of `npm test`. */
const firstSite = 'test/e2e/first-site.test.ts'

/** Tests that measure the complete machine, and an external suite whose pages live for two seconds. */
const alone = ['test/faults/siege.test.ts', 'test/http-cache.test.ts']

/**
 * The walk of all background work: a few jobs in each quick run, all of them in the system tier. It waits most of the
 * time.
 */
const allJobs = ['test/contract/jobs-1.test.ts', 'test/contract/jobs-2.test.ts', 'test/contract/jobs-3.test.ts']

/**
 * The same order in every run: long files first, then by path. Vitest's default order depends on file sizes and on
 * earlier durations. Files that share processes stay together, because a process ends when the next file belongs to
 * another project, and a new one loads the program for seconds.
 */
class FixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = startFirst.findIndex((file) => moduleId.endsWith(file))
      return found === -1 ? startFirst.length : found
    }
    const shared = ({ project }: TestSpecification) => (project.config.isolate ? '' : project.name)
    const byText = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)
    return files.toSorted((a, b) => byText(shared(a), shared(b)) || rank(a) - rank(b) || byText(a.moduleId, b.moduleId))
  }
}

/**
 * Only ends a test that hangs: a shared machine can be slow, most of all for PHP, which runs at low priority. Tests
 * limit their waits by a number of checks (`until`).
 */
const patience = {
  // Node strips types itself: Vite would compile each file once more for each project.
  experimental: { viteModuleRunner: false },
  testTimeout: 900_000,
  hookTimeout: 900_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 300_000 } },
}

// Every thread and process that a test starts would compile its code again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/tests')

const heavy = [...wordpress, ...system]
const left = leftToSystem(process.env.TEST_TIER, process.argv)

export const unit = {
  ...patience,
  name: 'unit',
  include: ['{src,test}/**/*.test.ts'],
  exclude: heavy,
  setupFiles: ['test/support/forget.ts', 'test/support/processor-time.ts'],
  pool: 'forks' as const,
  // A process of many files collects young garbage less often: a tenth of its processor time.
  execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
  isolate: false,
  maxWorkers: 3,
  sequence: { groupOrder: 0 },
}

/**
 * The unit tests in parts, each with separate processes. Leftovers of earlier test files make a process so large that
 * each of the thousands of child processes (`sync`, `tar`) of `hosting` costs 50 ms to copy its page tables.
 */
const parts: readonly (readonly [part: string, files: string])[] = [
  ['hosting', 'src/hosting/**'],
  ['rest', '{src,test}/**'],
]

/** On PostgreSQL (the tier `databases`), only files that test each database have something to do. */
const onEachDatabase =
  process.env.TEST_DATABASE === 'postgres'
    ? globSync(unit.include, { cwd: import.meta.dirname }).filter((file) =>
        /\bdialects\b|postgresUrl/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
      )
    : undefined
const includedIn = (files: string) => {
  const pattern = `${files}/*.test.ts`
  if (!onEachDatabase) return [pattern]
  const here = new Set(globSync(pattern, { cwd: import.meta.dirname }))
  return onEachDatabase.filter((file) => here.has(file))
}

const unitTests = parts.map(([part, files], index) => ({
  test: {
    ...unit,
    name: `unit-${index}-${part}`,
    include: includedIn(files),
    exclude: [...heavy, ...left, ...parts.slice(0, index).map(([, before]) => `${before}/*.test.ts`)],
  },
}))

/** Each file in a separate process. Three share two processors, because they wait for a third of their time. */
const apart = (name: string, include: readonly string[], exclude: string[], groupOrder: number, maxWorkers = 3) => ({
  test: {
    ...patience,
    name,
    include: [...include],
    exclude,
    setupFiles: ['test/support/processor-time.ts'],
    pool: 'forks' as const,
    maxWorkers,
    sequence: { groupOrder },
  },
})
const inTurns = (
  name: string,
  include: readonly string[],
  exclude: string[],
  groupOrder: number,
  maxWorkers?: number,
) => apart(name, include, [...exclude, ...leftToOtherTurns(include)], groupOrder, maxWorkers)
const long = inTurns('long', process.env.TEST_TIER === 'system' ? longFiles : [], [], 3)

export default defineConfig({
  test: {
    sequence: process.env.TEST_SHUFFLE
      ? { shuffle: { files: true, tests: false }, seed: Number(process.env.TEST_SHUFFLE) }
      : { sequencer: FixedOrder },
    globalSetup: 'test/support/database.ts',
    projects: [
      ...unitTests,
      // Beside the unit tests: by itself, it left a processor idle.
      apart('first-site', [firstSite], [], 0),
      inTurns('wordpress', wordpress, alone, 2),
      // On PostgreSQL, the tier `databases` runs them.
      {
        test: {
          ...long.test,
          env: { TEST_DATABASE: 'sqlite' },
          setupFiles: unit.setupFiles,
        },
      },
      inTurns('system', [...system, ...allJobs], [...alone, firstSite], 3),
      inTurns('alone', alone, [], 4, 1),
    ],
  },
})
