import { sql } from 'kysely'
import { type HostState, isHeard, type ShownHostState, usableStates } from '../../hosting/host-state.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emptyTrash, type HostTrash, type OpenDrain, openDrains, trashOfHosts } from './hosts/host-changes.store.ts'

/** Site on a host, including those in the trash. */
export interface HousedSite {
  readonly siteId: number
  readonly accountId: number
  readonly hostId: number
  readonly name: string
  readonly coreVersion: string
}

export async function sitesWithDirectories(tx: Tx): Promise<HousedSite[]> {
  const rows = await tx
    .selectFrom('site_homes')
    .innerJoin('sites', 'sites.id', 'site_homes.site_id')
    .select([
      'sites.id as siteId',
      'sites.account_id as accountId',
      'site_homes.host_id as hostId',
      'sites.name',
      'site_homes.core_version as coreVersion',
    ])
    .where('site_homes.state', '=', 'taken')
    .orderBy('sites.id')
    .execute()
  return rows as HousedSite[]
}

/** Returns the ids of all sites in the control database. */
export async function siteIds(tx: Tx): Promise<ReadonlySet<number>> {
  const rows = await tx.selectFrom('sites').select('id').execute()
  return new Set(rows.map(({ id }) => id))
}

/** Returns sites that can be backed up now, because their host reports. */
export async function livingSites(tx: Tx): Promise<{ siteId: number; accountId: number; hostId: number }[]> {
  const rows = await tx
    .selectFrom('sites')
    .innerJoin('hosts', 'hosts.id', 'sites.host_id')
    .select(['sites.id as siteId', 'account_id as accountId', 'host_id as hostId'])
    .where('deleted_at', 'is', null)
    .where('sites.state', 'in', ['live', 'disabled'])
    .where('hosts.state', 'in', usableStates)
    .where(isHeard(tx))
    .orderBy('sites.id')
    .execute()
  return rows as { siteId: number; accountId: number; hostId: number }[]
}

/** Records that the control database was backed up. */
export async function setBackedUp(tx: Tx, now: number): Promise<void> {
  await tx
    .updateTable('installation')
    .set({ records_backed_up_at: now, records_failing_since: null })
    .where('id', '=', 1)
    .execute()
}

/**
 * Records that the control database could not be backed up.
 * @returns whether it is the first failure since the last success
 */
export async function setFailing(tx: Tx, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('installation')
    .set({ records_failing_since: now })
    .where('id', '=', 1)
    .where('records_failing_since', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Returns when the control database was last backed up, milliseconds UTC. */
export async function backedUpAt(tx: Tx): Promise<number | null> {
  const row = await tx.selectFrom('installation').select('records_backed_up_at').where('id', '=', 1).executeTakeFirst()
  return row?.records_backed_up_at ?? null
}

/** Host with the number of its sites. */
export interface Housing {
  readonly id: number
  readonly name: string
  readonly sites: number
  readonly maxSites: number
  readonly trash: HostTrash
  /** When it last reported, milliseconds UTC. 0 if it never did, or has stopped. */
  readonly seenAt: number
  readonly state: Exclude<ShownHostState, 'removed'>
  /** The operation that moves its sites to other hosts. */
  readonly drain: OpenDrain | undefined
}

/** Returns hosts with their site counts, in order of id. Sites in the trash do not count. */
export async function listHousing(tx: Tx): Promise<Housing[]> {
  const draining = await openDrains(tx)
  const trash = await trashOfHosts(tx)
  const rows = await tx
    .selectFrom('hosts')
    .leftJoin('sites', (join) => join.onRef('sites.host_id', '=', 'hosts.id').on('sites.deleted_at', 'is', null))
    .select(({ fn }) => [
      'hosts.id',
      'hosts.name',
      'hosts.max_sites',
      'hosts.seen_at',
      'hosts.state',
      fn.count<number>('sites.id').as('count'),
      sql<boolean>`exists (select 1 from site_homes where site_homes.host_id = hosts.id and site_id is not null)`.as(
        'holds',
      ),
    ])
    .where('hosts.state', '!=', 'removed')
    .groupBy(['hosts.id', 'hosts.name', 'hosts.max_sites', 'hosts.seen_at', 'hosts.state'])
    .orderBy('hosts.id')
    .execute()
  return rows.map(({ id, name, count, max_sites: maxSites, seen_at: seenAt, state, holds }) => ({
    ...{ id, name, sites: Number(count), maxSites, seenAt, trash: trash.get(id) ?? emptyTrash },
    drain: draining.get(name),
    state: shownState(state, { isDraining: draining.has(name), isEmpty: Number(count) === 0 && !holds }),
  }))
}

function shownState(
  state: HostState,
  { isDraining, isEmpty }: { readonly isDraining: boolean; readonly isEmpty: boolean },
): Housing['state'] {
  if (state !== 'cordoned') return state as Housing['state']
  if (isDraining) return 'draining'
  return isEmpty ? 'drained' : 'cordoned'
}
