import { defineConfig } from 'vitest/config'

// `npx vitest run --project unit` is the quick half: one process for all files, since import was most of their time.

/** Tests that start PHP, browsers or processes to kill: they wait for most of their time, and want some hundred MB. */
const heavy = [
  'test/*.test.ts',
  'test/{e2e,faults}/**/*.test.ts',
  'src/hosting/{php,core-library,homes}/**/*.test.ts',
  'src/hosting/cron/cron-wordpress.test.ts',
  'src/hosting/php-log/follower-php.test.ts',
  'src/platform/operations/kill.test.ts',
]

/** Tests that judge how the whole machine fares, and a suite of others' whose pages live for two seconds. */
const alone = ['test/faults/siege.test.ts', 'test/http-cache.test.ts']

/** A busy machine takes its time, most of all for PHP, which gives way to everything else. */
const patience = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  teardownTimeout: 20_000,
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...patience,
          name: 'unit',
          include: ['{src,test}/**/*.test.ts'],
          exclude: heavy,
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
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
