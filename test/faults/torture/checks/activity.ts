import type { Write } from '../ledger.ts'
import type { Check } from './check.ts'

interface Expected {
  least: number
  most: number
  readonly example: Write
}

/** One entry for each acknowledged change, none for a refused one, and at most one for an unknown outcome. */
export const activity: Check = {
  name: 'activity log',
  async run({ ledger, records }) {
    const rows = await records('select action, site_id, message from activity')
    const there = new Map<string, number>()
    const add = (key: string) => there.set(key, (there.get(key) ?? 0) + 1)
    for (const { action, site_id, message } of rows) {
      add(keyOf(String(action), Number(site_id), String(message)))
      add(keyOf(String(action), Number(site_id), undefined))
    }
    return [...expectedEntries(ledger.writes)]
      .filter(([key, { least, most }]) => (there.get(key) ?? 0) < least || (there.get(key) ?? 0) > most)
      .map(([key, { least, most, example }]) => {
        const range = least === most ? least : `${least} to ${most}`
        return `${there.get(key) ?? 0} entries in place of ${range}: ${key} (${example.what}, ${example.outcome})`
      })
  },
}

const keyOf = (action: string, siteId: number | undefined, message: string | undefined): string =>
  `${action} of site ${siteId}: ${message ?? 'all'}`

function expectedEntries(writes: readonly Write[]): Map<string, Expected> {
  const expected = new Map<string, Expected>()
  for (const write of writes) {
    const { entry, outcome } = write
    // only the response tells which entry it would be; the loads count those
    if (!entry || (typeof entry.message === 'function' && outcome !== 'acknowledged')) continue
    const message = typeof entry.message === 'function' ? entry.message(write.data) : entry.message
    const key = keyOf(entry.action, entry.siteId, message)
    const sum = expected.get(key) ?? { least: 0, most: 0, example: write }
    if (outcome === 'acknowledged') sum.least++
    if (outcome !== 'refused') sum.most++
    expected.set(key, sum)
  }
  return expected
}
