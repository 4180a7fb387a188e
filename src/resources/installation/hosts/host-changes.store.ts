import { sql } from 'kysely'
import { type HostState, isHeard, takesSites } from '../../../hosting/host-state.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { hurryOperation } from '../../../platform/operations/control.ts'

/** Host as its operator changes it. */
export interface ChangedHost {
  readonly id: number
  readonly name: string
  readonly state: HostState
  /** Whether it reported recently. */
  readonly isHeard: boolean
}

export async function findHostNamed(tx: Tx, name: string): Promise<ChangedHost | undefined> {
  const row = await tx
    .selectFrom('hosts')
    .select(['hosts.id', 'name', 'state', isHeard(tx).as('heard')])
    .where('name', '=', name)
    .executeTakeFirst()
  return row && { id: row.id, name: row.name, state: row.state, isHeard: Boolean(row.heard) }
}

export async function setHostState(
  tx: Tx,
  hostId: number,
  { state, now }: { readonly state: HostState; readonly now: number },
): Promise<void> {
  await tx.updateTable('hosts').set({ state, state_at: now }).where('id', '=', hostId).execute()
}

/** An operation that moves all sites off a host and has not ended. */
export interface OpenDrain {
  readonly id: number
  /** `host.drain`, or `host.replace`, which also removes the host. */
  readonly type: string
  /** Name of the only host that gets the sites. */
  readonly to: string | undefined
  readonly isPaused: boolean
}

/** Returns the operations that move all sites off a host and have not ended, by the name of the host. */
export async function openDrains(tx: Tx): Promise<ReadonlyMap<string, OpenDrain>> {
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'type', 'input', 'paused_at'])
    .where('type', 'in', ['host.drain', 'host.replace'])
    .where('finished_at', 'is', null)
    .execute()
  return new Map(
    rows.map(({ id, type, input, paused_at }) => {
      const { host, to } = JSON.parse(input) as { host: string; to?: string }
      return [host, { id, type, to, isPaused: paused_at !== null }]
    }),
  )
}

/** Returns whether another host takes new sites. */
export async function isOtherTaking(tx: Tx, hostId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('hosts')
    .select('hosts.id')
    .where('hosts.id', '!=', hostId)
    .where(takesSites(tx))
    .executeTakeFirst()
  return row !== undefined
}

/** Returns hosts whose sites must be recovered elsewhere. */
export async function lostHosts(tx: Tx): Promise<{ id: number; name: string }[]> {
  return tx.selectFrom('hosts').select(['id', 'name']).where('state', '=', 'lost').orderBy('id').execute()
}

/** Visits within this many days decide the order of sites. */
export const VISIT_DAYS = 7

/** Returns the sites of a host that are not deleted, most visited since the given day first. */
export async function sitesByVisits(tx: Tx, hostId: number, sinceDay: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('sites')
    .leftJoin('page_view_days', (join) =>
      join.onRef('page_view_days.site_id', '=', 'sites.id').on('page_view_days.day', '>=', sinceDay),
    )
    .select(['sites.id', sql<number>`coalesce(sum(page_view_days.views), 0)`.as('views')])
    .where('sites.host_id', '=', hostId)
    .where('sites.deleted_at', 'is', null)
    .groupBy('sites.id')
    .orderBy('views', 'desc')
    .orderBy('sites.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the deleted sites of a host whose files are in the trash. */
export async function deletedSitesOn(tx: Tx, hostId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .select('sites.id')
    .where('site_homes.host_id', '=', hostId)
    .where('site_homes.state', '=', 'taken')
    .where('sites.deleted_at', 'is not', null)
    .orderBy('sites.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deleted sites whose files are still in the trash of a host. */
export interface HostTrash {
  readonly sites: number
  /** When the last one is removed, milliseconds UTC. Null while a deletion has just begun. */
  readonly until: number | null
}

export const emptyTrash: HostTrash = { sites: 0, until: null }

/** Returns the trash of hosts, by the id of the host. It has no entry for an empty one. */
export async function trashOfHosts(tx: Tx): Promise<ReadonlyMap<number, HostTrash>> {
  const rows = await tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .leftJoin('operations', (join) =>
      join
        .onRef('operations.site_id', '=', 'sites.id')
        .on('operations.type', '=', 'site.purge')
        .on('operations.finished_at', 'is', null),
    )
    .select(({ fn }) => [
      'site_homes.host_id',
      sql<number>`count(distinct sites.id)`.as('sites'),
      fn.max('operations.run_at').as('until'),
    ])
    .where('sites.deleted_at', 'is not', null)
    .groupBy('site_homes.host_id')
    .execute()
  return new Map(
    rows.map(({ host_id, sites, until }) => [
      host_id,
      { sites: Number(sites), until: until === null ? null : Number(until) },
    ]),
  )
}

/** Returns whether any site, including those in the trash, is still on a host. */
export async function hasSites(tx: Tx, hostId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .select('sites.id')
    .where('site_homes.host_id', '=', hostId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined || (await sitesByVisits(tx, hostId, 0)).length > 0
}

/** Returns the number of copies on a host, of sites that arrive there or have left it. */
export async function copiesOn(tx: Tx, hostId: number): Promise<number> {
  const copies = tx.selectFrom('site_homes').select(({ fn }) => fn.countAll<number>().as('count'))
  const { count } = await copies.where('host_id', '=', hostId).where('state', '=', 'apart').executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Makes the removals of copies due now that a host would do later.
 * @returns their number
 */
export async function hurryCopyRemovals(tx: Tx, hostId: number): Promise<number> {
  const queued = await tx
    .selectFrom('operations')
    .select('id')
    .where('type', '=', 'site.remove_copy')
    .where('host_id', '=', hostId)
    .where('state', '=', 'queued')
    .orderBy('id')
    .execute()
  for (const { id } of queued) await hurryOperation(tx, id)
  return queued.length
}

/** Deletes the records of a host's site directories. */
export async function forgetDirectories(tx: Tx, hostId: number): Promise<void> {
  await tx.deleteFrom('site_homes').where('host_id', '=', hostId).execute()
}
