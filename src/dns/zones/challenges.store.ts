import type { Tx } from '../../platform/db/database.ts'
import { setsOf } from './earlier-sets.store.ts'
import { renewSerial } from './zone-changes.store.ts'

/*
 * The proofs that a certificate authority looks for in the DNS (RFC 8555 §8.4). They are not records of the zone: its
 * users neither see them nor conflict with them. They are served in addition to all other records of the name.
 */

/** Returns the closest zone that contains a name, as the name server finds it. */
export async function zoneHolding(tx: Tx, name: string): Promise<{ id: number; name: string } | undefined> {
  const labels = name.split('.')
  const names = labels.map((_, at) => labels.slice(at).join('.'))
  const zones = await tx
    .selectFrom('zones')
    .select(['id', 'name'])
    .where('name', 'in', names)
    .where('deleted_at', 'is', null)
    .execute()
  return zones.sort((a, b) => b.name.length - a.name.length)[0]
}

export interface Challenge {
  /** The name of the ordered certificate. It has one order at a time. */
  readonly hostName: string
  readonly zone: { readonly id: number; readonly name: string }
  /** The location of the proof: a name in the zone. */
  readonly name: string
  readonly value: string
}

/** Stores a proof. From now on, every name server of the zone serves it. */
export async function putChallenge(tx: Tx, { hostName, zone, name, value }: Challenge, now: number): Promise<void> {
  await dropChallenge(tx, hostName, now)
  const label = name.slice(0, -zone.name.length - 1)
  const earlier = await setsOf(tx, zone.id, [{ name: label, type: 'TXT' }])
  await tx.insertInto('dns_challenges').values({ host_name: hostName, zone_id: zone.id, name: label, value }).execute()
  await renewSerial(tx, zone.id, now, earlier)
}

export async function dropChallenge(tx: Tx, hostName: string, now: number): Promise<void> {
  const there = await tx
    .selectFrom('dns_challenges')
    .select(['zone_id', 'name'])
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  if (!there) return
  const earlier = await setsOf(tx, there.zone_id, [{ name: there.name, type: 'TXT' }])
  const { numDeletedRows } = await tx
    .deleteFrom('dns_challenges')
    .where('host_name', '=', hostName)
    .executeTakeFirstOrThrow()
  if (numDeletedRows > 0n) await renewSerial(tx, there.zone_id, now, earlier)
}
