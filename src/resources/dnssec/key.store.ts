import { type KeyState, makePrivateKey, zoneKey } from '../../dns/signing/signing-key.ts'
import { ZONE_KEY_PURPOSE } from '../../dns/zones/zones.store.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { KeyNow, Settlement } from './next-state.ts'

/** Key of a zone, without its private part. */
export interface Key extends KeyNow {
  readonly tag: number
  /** The data of its DNSKEY record. */
  readonly dnskey: Buffer
  readonly createdAt: number
}

/** The signing state of a zone. */
export interface Signing {
  readonly dnssec: 'off' | 'on' | 'leaving'
  /** When the parent zone was last asked for its DS records. */
  readonly dsLookedAt: number | null
  readonly dsSeenAt: number | null
  /** Why the last query failed. */
  readonly dsFault: string | null
  /** Oldest first. */
  readonly keys: readonly Key[]
}

export async function signingOf(tx: Tx, zoneId: number): Promise<Signing> {
  const zone = await tx
    .selectFrom('zones')
    .select(['dnssec', 'ds_looked_at as dsLookedAt', 'ds_seen_at as dsSeenAt', 'ds_fault as dsFault'])
    .where('id', '=', zoneId)
    .executeTakeFirstOrThrow()
  const keys = await tx.selectFrom('zone_keys').selectAll().where('zone_id', '=', zoneId).orderBy('id').execute()
  return {
    ...zone,
    keys: keys.map(({ id, state, state_at, tag, dnskey, has_ds, created_at }) => ({
      ...{ id, state, tag, stateAt: state_at, hasDs: has_ds === 1, createdAt: created_at },
      dnskey: Buffer.from(dnskey, 'base64'),
    })),
  }
}

export async function addKey(
  tx: Tx,
  zoneId: number,
  { state, now, sealer }: { state: KeyState; now: number; sealer: Sealer },
): Promise<void> {
  const privateKey = makePrivateKey()
  const { tag, dnskey } = zoneKey(privateKey, state)
  await tx
    .insertInto('zone_keys')
    .values({
      ...{ zone_id: zoneId, state, state_at: now, tag, has_ds: 0, created_at: now },
      dnskey: dnskey.toString('base64'),
      private_key: sealer.seal(privateKey, ZONE_KEY_PURPOSE),
    })
    .execute()
}

export async function setDnssec(
  tx: Tx,
  zoneId: number,
  dnssec: Signing['dnssec'],
  dueAt: number | null,
): Promise<void> {
  await tx.updateTable('zones').set({ dnssec, dnssec_due_at: dueAt }).where('id', '=', zoneId).execute()
  if (dnssec !== 'off') return
  await tx.deleteFrom('zone_keys').where('zone_id', '=', zoneId).execute()
  const nothing = { ds_looked_at: null, ds_seen_at: null, ds_fault: null }
  await tx.updateTable('zones').set(nothing).where('id', '=', zoneId).execute()
}

/** Stores the DS records that the parent zone has. */
export async function rememberDs(
  tx: Tx,
  zoneId: number,
  { named, isNamed, now }: { named: ReadonlySet<number>; isNamed: boolean; now: number },
): Promise<void> {
  const keys = await tx.selectFrom('zone_keys').select('id').where('zone_id', '=', zoneId).execute()
  for (const { id } of keys)
    await tx
      .updateTable('zone_keys')
      .set({ has_ds: named.has(id) ? 1 : 0 })
      .where('id', '=', id)
      .execute()
  const seen = isNamed ? { ds_seen_at: now } : {}
  await tx
    .updateTable('zones')
    .set({ ds_looked_at: now, ds_fault: null, ...seen })
    .where('id', '=', zoneId)
    .execute()
}

/** Stores that the parent zone could not be queried. */
export async function rememberFault(tx: Tx, zoneId: number, fault: string): Promise<void> {
  await tx.updateTable('zones').set({ ds_fault: fault }).where('id', '=', zoneId).execute()
}

export async function applySettlement(tx: Tx, { states, deleted }: Settlement, now: number): Promise<void> {
  for (const [id, state] of states)
    await tx.updateTable('zone_keys').set({ state, state_at: now }).where('id', '=', id).execute()
  if (deleted.length > 0) await tx.deleteFrom('zone_keys').where('id', 'in', deleted).execute()
}

export async function setDue(tx: Tx, zoneId: number, dueAt: number): Promise<void> {
  await tx.updateTable('zones').set({ dnssec_due_at: dueAt }).where('id', '=', zoneId).execute()
}

/** Signed zone that is due for a check. */
export interface DueZone {
  readonly id: number
  readonly accountId: number
}

/** Claims due zones, the longest waiting first. They are due again at `again` unless the check sets another time. */
export async function takeDueZones(tx: Tx, now: number, again: number, most: number): Promise<DueZone[]> {
  const due = await tx
    .selectFrom('zones')
    .select(['id', 'account_id as accountId'])
    .where('dnssec_due_at', '<=', now)
    .orderBy('dnssec_due_at')
    .limit(most)
    .execute()
  for (const { id } of due) await setDue(tx, id, again)
  return due
}

/** Signed zones whose serial is older than a time (seconds), oldest first. */
export async function zonesWithSerialBefore(tx: Tx, seconds: number, most: number): Promise<number[]> {
  const zones = await tx
    .selectFrom('zones')
    .select('id')
    .where('dnssec', '<>', 'off')
    .where('deleted_at', 'is', null)
    .where('serial', '<', seconds)
    .orderBy('serial')
    .limit(most)
    .execute()
  return zones.map(({ id }) => id)
}
