/** `npm run torture`, short: 60 kills on the two databases together. */
import { expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { reportText } from './torture/report.ts'
import { torture } from './torture/torture.ts'

const core = await testCore()

test
  .skipIf(!core)
  .for([{ database: 'sqlite', kills: hasPostgres ? 36 : 60 } as const, { database: 'postgres', kills: 24 } as const])(
  '$kills kills on $database lose nothing that was answered, and double nothing',
  { timeout: 600_000 },
  async (options, { skip }) => {
    skip(options.database === 'postgres' && !hasPostgres, 'no PostgreSQL server to start')
    const report = await torture({ ...options, seed: Date.now() % 2 ** 31, mostSeconds: 150 })
    expect(report.faults, reportText(report)).toEqual([])
  },
)
