/**
 * One minute of `npm run siege`. Response times depend on the machine: the test prints them, and `npm run siege` judges
 * them.
 */
import { expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { reportText } from './siege/report.ts'
import { siege } from './siege/siege.ts'

const core = await testCore()

test.skipIf(!core)(
  'survives eight hostile sites and 500 hostile connections without a crash, growth, a full disk, or a wrong answer',
  { timeout: 600_000 },
  async () => {
    const report = await siege({ minutes: 1 })
    console.log(reportText(report))
    expect(report.faults).toEqual([])
  },
)
