import type { Check } from './check.ts'

/** Requested operations complete: nothing that happens here is a reason to give up. */
export const operations: Check = {
  name: 'operations',
  async run({ ledger, records }) {
    const rows = await records('select id, type, state, site_id, attempts, error from operations')
    ledger.count('operations', rows.length)
    const failed = rows.filter(({ state }) => state === 'failed')
    return failed.map(
      ({ id, type, site_id, attempts, error }) => `${type} ${id} of site ${site_id} failed after ${attempts}: ${error}`,
    )
  },
}
