import { schedules as all } from '../../../../src/schedules.ts'
import type { Check } from './check.ts'

const HOUR_MS = 3600_000

/** Recurring work is ordered once a slot, however often its time comes: the clock was an hour ahead and an hour behind. */
export const schedules: Check = {
  name: 'schedules',
  async run({ ledger, records, startedAt }) {
    const rows = await records('select type, count(*) as n from operations group by type')
    const faults: string[] = []
    for (const { name, everyMs, offsetMs } of all) {
      // an operation of a schedule has its name
      const ordered = Number(rows.find(({ type }) => type === name)?.n ?? 0)
      ledger.count('operations by schedule', ordered)
      const slot = (time: number) => Math.floor((time - offsetMs) / everyMs)
      const slots = slot(Date.now() + HOUR_MS) - slot(startedAt - HOUR_MS)
      if (ordered > slots) faults.push(`${name} was ordered ${ordered} times in ${slots} slots`)
    }
    return faults
  },
}
