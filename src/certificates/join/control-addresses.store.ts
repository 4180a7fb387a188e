import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'

/** Machines that joined keep as many at most. */
const MOST = 16

/** Records that a control listens for other machines at an address, and forgets those that ended more than a day ago. */
export async function reportControl(tx: Tx, address: string, now: number): Promise<void> {
  await tx
    .insertInto('control_addresses')
    .values({ address, seen_at: now })
    .onConflict((conflict) => conflict.column('address').doUpdateSet({ seen_at: now }))
    .execute()
  await tx
    .deleteFrom('control_addresses')
    .where('seen_at', '<', now - DAY_MS)
    .execute()
}

/** Returns the addresses of controls, such as `10.0.0.2:8091`, those that reported last first. */
export async function controlAddresses(tx: Tx): Promise<string[]> {
  const rows = tx.selectFrom('control_addresses').select('address').orderBy('seen_at', 'desc').orderBy('address')
  return (await rows.limit(MOST).execute()).map(({ address }) => address)
}
