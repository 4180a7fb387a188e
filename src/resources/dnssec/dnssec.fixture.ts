import type { Scene } from '../../../test/support/samples.ts'
import { addKey, setDnssec } from './key.store.ts'

/** Signs a zone as `PUT` does. The zone then has one key. */
export async function signZone({ database, sealer }: Scene['api'], zone: number): Promise<void> {
  await database.transaction(async (tx) => {
    await setDnssec(tx, zone, 'off', null)
    await addKey(tx, zone, { state: 'active', now: 1, sealer })
    await setDnssec(tx, zone, 'on', Date.now() + 3600_000)
  })
}
