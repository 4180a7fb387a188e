import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// `npx vitest run --project 'unit*'` is the quick half: one process for many files, since import was most of their time.

/** Tests that start PHP, browsers or processes to kill: they wait for most of their time, and want some hundred MB. */
const heavy = [
  'test/*.test.ts',
  'test/{e2e,faults}/**/*.test.ts',
  'src/hosting/{php,core-library,homes}/**/*.test.ts',
  'src/hosting/mariadb/**/*.test.ts',
  'src/hosting/cron/cron-wordpress.test.ts',
  'src/hosting/page-measure/measure-page.test.ts',
  'src/hosting/php-log/follower-php.test.ts',
  'src/hosting/site-database/content.test.ts',
  'src/hosting/site-database/plugin-schema.test.ts',
  'src/hosting/site-database/round-trip.test.ts',
  'src/platform/operations/kill.test.ts',
]

/** Tests that judge how the whole machine fares, and a suite of others' whose pages live for two seconds. */
const alone = ['test/faults/siege.test.ts', 'test/http-cache.test.ts']

/** Minutes each: begun first, so that no processor is left alone with one of them at the end. */
const long = [
  'test/faults/torture.test.ts',
  'test/e2e/identity.test.ts',
  'test/faults/crashes.test.ts',
  'test/e2e/restore-stead.test.ts',
  'test/contract/fuzz.test.ts',
  'test/contract/jobs.test.ts',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => long.some((file) => moduleId.endsWith(file))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** A machine that others use, too, takes its time, most of all for PHP, which gives way to everything else. */
const patience = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 60_000 } },
}

// every thread and process that a test starts would compile its code anew
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/tests')

export const unit = {
  ...patience,
  name: 'unit',
  include: ['{src,test}/**/*.test.ts'],
  exclude: heavy,
  pool: 'forks' as const,
  isolate: false,
  maxWorkers: 3,
  sequence: { groupOrder: 0 },
}

/**
 * The quick half in parts, each of which has processes of its own: what the files of tests before have left makes a process so large that
 * each of the thousands that tests start from it (`sync`, `tar`) costs 50 ms of copying its page tables.
 */
const parts: readonly (readonly [part: string, files: string])[] = [
  ['contract', 'test/contract/**'],
  ['hosting', 'src/hosting/**'],
  ['resources-a-b', 'src/resources/{a,b}*/**'],
  ['resources-c-z', 'src/resources/**'],
  ['rest', '{src,test}/**'],
]

const quickHalf = parts.map(([part, files], index) => ({
  test: {
    ...unit,
    name: `unit-${index}-${part}`,
    include: [`${files}/*.test.ts`],
    exclude: [...heavy, ...parts.slice(0, index).map(([, before]) => `${before}/*.test.ts`)],
  },
}))

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: 'test/support/database.ts',
    projects: [
      ...quickHalf,
      {
        test: {
          ...patience,
          name: 'system',
          include: heavy,
          exclude: alone,
          pool: 'forks',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          name: 'alone',
          include: alone,
          pool: 'forks',
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
