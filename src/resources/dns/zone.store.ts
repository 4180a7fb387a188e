import { forgetChanges, setsOf } from '../../dns/zones/earlier-sets.store.ts'
import { touchZone } from '../../dns/zones/zone-changes.store.ts'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import type { DnsRecord, RecordDraft } from './records/record.ts'
import type { Zone } from './zone.ts'
import { hostNameIn } from './zone-name.ts'

const columns = ['id', 'account_id as accountId', 'name', 'created_at as createdAt', 'updated_at as updatedAt'] as const

export async function findZone(tx: Tx, id: number): Promise<Zone | undefined> {
  return tx.selectFrom('zones').select(columns).where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst()
}

/** Returns a zone for a transaction that will change it, and serializes such transactions. Hold sites first. */
export async function holdZone(tx: Tx, id: number): Promise<Zone | undefined> {
  await lockForUpdate(tx, 'zones', id)
  return findZone(tx, id)
}

export async function zoneByName(tx: Tx, name: string): Promise<Zone | undefined> {
  return tx
    .selectFrom('zones')
    .select(columns)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Returns the zones of an account, and those with records of these sites, by name. */
export async function visibleZones(tx: Tx, accountId: number, siteIds: readonly number[]): Promise<Zone[]> {
  return tx
    .selectFrom('zones')
    .select(columns)
    .where('deleted_at', 'is', null)
    .where(({ or, eb, selectFrom }) =>
      or([
        eb('account_id', '=', accountId),
        ...(siteIds.length > 0
          ? [eb('id', 'in', selectFrom('dns_records').select('zone_id').where('site_id', 'in', siteIds))]
          : []),
      ]),
    )
    .orderBy('name')
    .execute()
}

/** Returns the zone of a name that another account has and uses. In a transaction it is held. */
export async function zoneOfOther(tx: Tx, accountId: number, name: string): Promise<Zone | undefined> {
  const found = await zoneByName(tx, name)
  const zone = found && tx.isTransaction ? await holdZone(tx, found.id) : found
  if (!zone || zone.accountId === accountId) return undefined
  const used = await tx
    .selectFrom('zones')
    .select('id')
    .where('id', '=', zone.id)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('dnssec', '<>', 'off'),
        exists(selectFrom('dns_records').select('dns_records.id').whereRef('zone_id', '=', 'zones.id')),
      ]),
    )
    .executeTakeFirst()
  return used && zone
}

/**
 * Creates a zone, unless it was created at this very moment.
 * @returns the existing zone, held
 */
export async function insertZone(tx: Tx, accountId: number, name: string, now: number): Promise<Zone> {
  // An existing zone may be deleted while this waits for it.
  for (let attempt = 0; attempt < 3; attempt++) {
    const serial = Math.max(Math.floor(now / 1000), (await lastSerialOf(tx, name)) + 1)
    const row = { account_id: accountId, name, created_at: now, updated_at: now, serial }
    await tx
      .insertInto('zones')
      .values({ ...row, change_seq: 0, deleted_at: null })
      .onConflict((conflict) => conflict.column('name').where('deleted_at', 'is', null).doNothing())
      .execute()
    const found = await zoneByName(tx, name)
    const zone = found && (await holdZone(tx, found.id))
    // An account that has removed all records no longer uses the name.
    if (zone && zone.accountId !== accountId && (await dropIfEmpty(tx, zone.id, now))) continue
    if (zone) {
      await touchZone(tx, zone.id, now)
      return zone
    }
  }
  throw new Error(`the zone ${name} is made and deleted again and again`)
}

/** Returns the highest serial of earlier zones of this name. Secondaries that had one accept no lower serial. */
async function lastSerialOf(tx: Tx, name: string): Promise<number> {
  const { last } = await tx
    .selectFrom('zones')
    .select(({ fn }) => fn.max('serial').as('last'))
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return Number(last ?? 0)
}

/**
 * Deletes a zone without records, unless it is signed: without its keys, resolvers that trust them would reject a new
 * zone of the name.
 * @returns whether it is deleted
 */
export async function dropIfEmpty(tx: Tx, id: number, now: number): Promise<boolean> {
  const left = await tx.selectFrom('dns_records').select('id').where('zone_id', '=', id).limit(1).executeTakeFirst()
  if (left) return false
  const { numUpdatedRows } = await tx
    .updateTable('zones')
    .set({ deleted_at: now })
    .where('id', '=', id)
    .where('dnssec', '=', 'off')
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await forgetChanges(tx, id)
  return numUpdatedRows > 0n
}

/** How many zones without records an account keeps. */
export const MOST_EMPTY_ZONES = 100

/**
 * Deletes the empty zones of an account that have not changed for the longest time, so that they do not fill the name
 * servers.
 */
export async function forgetEmptyZones(tx: Tx, accountId: number, now: number): Promise<void> {
  const tooMany = await tx
    .selectFrom('zones')
    .select('id')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('dns_records').select('dns_records.id').whereRef('zone_id', '=', 'zones.id'))),
    )
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .offset(MOST_EMPTY_ZONES)
    .limit(MOST_EMPTY_ZONES)
    .execute()
  for (const { id } of tooMany) await dropIfEmpty(tx, id, now)
}

function records(tx: Tx) {
  return tx
    .selectFrom('dns_records')
    .innerJoin('zones', 'zones.id', 'dns_records.zone_id')
    .leftJoin('sites', 'sites.id', 'dns_records.site_id')
    .select([
      'dns_records.id',
      'zone_id as zoneId',
      'type',
      'dns_records.name',
      'value',
      'written',
      'priority',
      'weight',
      'port',
      'ttl',
      'site_id as siteId',
      'dns_records.created_at as createdAt',
      'zones.name as zoneName',
      'sites.primary_domain as primaryDomain',
    ])
    .orderBy('dns_records.id')
}

type Found = Omit<DnsRecord, 'isPrimary'> & { zoneName: string; primaryDomain: string | null }

/** Record with the zone that contains it. */
export interface RecordInZone extends DnsRecord {
  readonly zoneName: string
}

const described = ({ primaryDomain, ...record }: Found): RecordInZone => ({
  ...record,
  isPrimary:
    primaryDomain !== null &&
    primaryDomain === (record.name === '' ? record.zoneName : `${record.name}.${record.zoneName}`),
})

/** Returns the records of a zone, in order of id. */
export async function recordsOfZone(tx: Tx, zoneId: number): Promise<RecordInZone[]> {
  return (await records(tx).where('zone_id', '=', zoneId).execute()).map(described)
}

export async function recordOf(tx: Tx, zoneId: number, id: number): Promise<RecordInZone | undefined> {
  const row = await records(tx).where('zone_id', '=', zoneId).where('dns_records.id', '=', id).executeTakeFirst()
  return row && described(row)
}

/** Returns the records that lead to a site, in order of id. */
export async function domainsOfSite(tx: Tx, siteId: number): Promise<RecordInZone[]> {
  return (await records(tx).where('site_id', '=', siteId).execute()).map(described)
}

/** Returns the sites that records of a zone lead to, except deleted ones. */
export async function sitesOfZone(tx: Tx, zoneId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('dns_records')
    .innerJoin('sites', 'sites.id', 'dns_records.site_id')
    .select('sites.id')
    .distinct()
    .where('zone_id', '=', zoneId)
    .where('sites.deleted_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the host names in a zone that lead to sites, by name. */
export async function hostNamesIn(tx: Tx, zoneId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('dns_records')
    .innerJoin('zones', 'zones.id', 'dns_records.zone_id')
    .innerJoin('sites', 'sites.id', 'dns_records.site_id')
    .select(['dns_records.name', 'zones.name as zone'])
    .distinct()
    .where('zone_id', '=', zoneId)
    .where('sites.deleted_at', 'is', null)
    .execute()
  return rows.map(({ name, zone }) => hostNameIn(zone, name)).sort()
}

/** Deletes a zone with everything in it. The caller has removed its host names from their sites. */
export async function dropZone(tx: Tx, id: number, now: number): Promise<void> {
  await tx.deleteFrom('dns_records').where('zone_id', '=', id).execute()
  await tx.deleteFrom('dns_challenges').where('zone_id', '=', id).execute()
  await touchZone(tx, id, now)
  if (!(await dropIfEmpty(tx, id, now))) throw new Error(`the zone ${id} is signed`)
}

export async function insertRecords(
  tx: Tx,
  zoneId: number,
  drafts: readonly RecordDraft[],
  now: number,
): Promise<void> {
  const earlier = await setsOf(tx, zoneId, drafts)
  for (const { siteId, ...draft } of drafts)
    await tx
      .insertInto('dns_records')
      .values({ ...draft, zone_id: zoneId, site_id: siteId, created_at: now })
      .execute()
  await touchZone(tx, zoneId, now, earlier)
}

export async function changeValue(tx: Tx, record: DnsRecord, value: string, now: number): Promise<void> {
  const earlier = await setsOf(tx, record.zoneId, [record])
  await tx.updateTable('dns_records').set({ value, written: null }).where('id', '=', record.id).execute()
  await touchZone(tx, record.zoneId, now, earlier)
}

export async function deleteRecords(tx: Tx, zoneId: number, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return
  const those = tx
    .selectFrom('dns_records')
    .select(['name', 'type'])
    .where('zone_id', '=', zoneId)
    .where('id', 'in', ids)
  const earlier = await setsOf(tx, zoneId, await those.execute())
  await tx.deleteFrom('dns_records').where('zone_id', '=', zoneId).where('id', 'in', ids).execute()
  await touchZone(tx, zoneId, now, earlier)
}

/** Returns the zones of an account that are not deleted, in order of id. */
export async function zonesOfAccount(tx: Tx, accountId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('zones')
    .select('id')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Gives the rows of an account's deleted zones to another account. They stay, because they tell name servers to stop
 * answering, and hold the serial for the next zone of the name.
 */
export async function inheritDeletedZones(tx: Tx, accountId: number, heirId: number): Promise<void> {
  await tx
    .updateTable('zones')
    .set({ account_id: heirId })
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is not', null)
    .execute()
}
