import { schedules as all } from '../../../../src/schedules.ts'
import type { Check } from './check.ts'

const HOUR_MS = 3600_000

/**
 * Recurring work runs once in a slot, however often its time comes: the clock was an hour ahead and an hour behind.
 * When the clock is back by more than a slot, a schedule starts over, which the log says. Its slots may then repeat
 * once.
 */
export const schedules: Check = {
  name: 'schedules',
  async run({ ledger, lines, records, startedAt }) {
    const rows = await records('select type, count(*) as n from operations group by type')
    const begunAnew = lines.filter((line) => line.includes('"reset a schedule that was far ahead of the clock"'))
    const faults: string[] = []
    for (const { name, everyMs, offsetMs } of all) {
      // an operation of a schedule has the schedule's name
      const ordered = Number(rows.find(({ type }) => type === name)?.n ?? 0)
      ledger.count('operations by schedule', ordered)
      const slot = (time: number) => Math.floor((time - offsetMs) / everyMs)
      const slots = slot(Date.now() + HOUR_MS) - slot(startedAt - HOUR_MS)
      const times = 1 + begunAnew.filter((line) => line.includes(`"schedule":"${name}"`)).length
      if (ordered > slots * times)
        faults.push(`${name} was ordered ${ordered} times in ${slots} slots, begun ${times} times`)
    }
    return faults
  },
}
