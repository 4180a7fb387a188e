/** `npm run siege`, one minute of it. How fast the answers were depends on the machine: the test shows it, `npm run siege` judges it. */
import { expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { reportText } from './siege/report.ts'
import { siege } from './siege/siege.ts'

const core = await testCore()

test.skipIf(!core)(
  'eight hostile sites and 500 hostile connections: nothing dies, grows, fills the disk or gets a wrong answer',
  { timeout: 600_000 },
  async () => {
    const report = await siege({ minutes: 1 })
    console.log(reportText(report))
    expect(report.faults).toEqual([])
  },
)
