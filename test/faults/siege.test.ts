/** `npm run siege`, one minute of it. */
import { expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { reportText } from './siege/report.ts'
import { siege } from './siege/siege.ts'

const core = await testCore()

test.skipIf(!core)(
  'eight hostile sites and 500 hostile connections: a ninth site, its visitors and its owner notice nothing',
  { timeout: 600_000 },
  async () => {
    const report = await siege({ minutes: 1 })
    expect(report.faults, reportText(report)).toEqual([])
  },
)
