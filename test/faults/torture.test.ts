/** A short `npm run torture`, with half of the kills on PostgreSQL where it is installed. */
import { describe, test } from 'vitest'
import { atLength } from '../support/at-length.ts'
import { testCore } from '../support/core.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { reportText } from './torture/report.ts'
import { torture } from './torture/torture.ts'

const core = await testCore()
const kills = atLength(6, 30)

// at the same time: most of a run is waiting for killed processes
describe.skipIf(!core)('torture', { concurrent: true, timeout: 600_000 }, () => {
  test.for([
    { database: 'sqlite', kills: hasPostgres ? kills : 2 * kills, skip: false },
    { database: 'postgres', kills, skip: !hasPostgres },
  ] as const)(
    '$kills kills on $database lose nothing that was acknowledged, and double nothing',
    async ({ skip: isMissing, ...options }, { skip, expect }) => {
      skip(isMissing, 'no PostgreSQL server to start')
      const report = await torture({ ...options, seed: Date.now() % 2 ** 31, mostSeconds: 10 + 5 * kills })
      // the summary of a run shows only the first line
      expect(report.faults, `${report.faults.join('; ').slice(0, 800)}\n${reportText(report)}`).toEqual([])
    },
  )
})
