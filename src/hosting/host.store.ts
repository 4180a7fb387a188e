import type { Tx } from '../platform/db/database.ts'
import { precompiled } from '../platform/db/precompiled.ts'
import { isInProgress } from '../platform/operations/is-in-progress.ts'
import { databaseNow } from '../platform/operations/worker/lease.ts'
import { listedUnder } from '../platform/wildcard-name.ts'
import { type ColumnsReadBy, columnsReadBy } from '../site-flags.ts'
import { type HostState, isUsable, usableStates } from './host-state.ts'
import type { PhpVersion } from './php/runtime.ts'

/** A site of this host, with the facts that its traffic needs. */
export interface HostedRecord extends ColumnsReadBy<'host'> {
  readonly siteId: number
  readonly directoryId: number
  readonly coreVersion: string
  readonly phpVersion: PhpVersion
  readonly state: 'deploying' | 'cloning' | 'live' | 'disabled'
  /** The address that the site's own database holds. */
  readonly address: string
  /** 1: an operation works on it, and nothing else of it may run. */
  readonly closed: number
}

const hosted = (tx: Tx, hostId: number) =>
  tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .select([
      'sites.id as siteId',
      'site_homes.id as directoryId',
      'sites.core_version as coreVersion',
      'sites.php_version as phpVersion',
      'sites.state',
      'sites.written_address as address',
      ...columnsReadBy('host'),
      isInProgress('sites.closed_by').as('closed'),
    ])
    .where('sites.host_id', '=', hostId)
    .where('sites.deleted_at', 'is', null)
    .where('sites.core_version', 'is not', null)
    .where('sites.written_address', 'is not', null)
    .$castTo<HostedRecord>()

/** @returns `undefined` for a site that is not on this host, or has no content yet */
export async function hostedSite(tx: Tx, hostId: number, siteId: number): Promise<HostedRecord | undefined> {
  return hosted(tx, hostId).where('sites.id', '=', siteId).executeTakeFirst()
}

/** @returns the id of the host, unless it is lost or removed */
export async function usableHostNamed(tx: Tx, name: string): Promise<number | undefined> {
  const found = await tx
    .selectFrom('hosts')
    .select('id')
    .where('name', '=', name)
    .where('state', 'in', usableStates)
    .executeTakeFirst()
  return found?.id
}

/** Returns whether a site is on a host. A deleted one is, until it is purged. */
export async function isSiteOn(
  tx: Tx,
  { siteId, hostId }: { readonly siteId: number; readonly hostId: number },
): Promise<boolean> {
  const found = tx.selectFrom('sites').select('id').where('id', '=', siteId).where('host_id', '=', hostId)
  return (await found.executeTakeFirst()) !== undefined
}

/** Returns whether the host name leads to a site of this Stead, on any host. Deleted sites of other hosts count, too. */
export async function isSiteName(tx: Tx, hostName: string): Promise<boolean> {
  const found = await tx
    .selectFrom('routes')
    // The login of a host sees no sites of others.
    .leftJoin('sites', 'sites.id', 'routes.site_id')
    .select('routes.site_id')
    .where('routes.host_name', 'in', listedUnder(hostName))
    .where('sites.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Returns the sites in the order of their ids. */
export async function hostedSites(tx: Tx, hostId: number): Promise<HostedRecord[]> {
  return hosted(tx, hostId).orderBy('sites.id').execute()
}

/**
 * Registers the host under its name, or its new address and epoch. The caller must then inform edges (`recordHost`).
 * @returns its id
 */
export async function registerHost(
  tx: Tx,
  values: {
    name: string
    address: string
    datacenters: string
    identity: string
    epoch: number
    /** The most sites that it takes. */
    maxSites: number
  },
): Promise<number> {
  const { name, address, datacenters, identity, epoch, maxSites: max_sites } = values
  const { id, known } = await tx
    .insertInto('hosts')
    .values({
      name,
      address,
      datacenters,
      identity,
      epoch,
      max_sites,
      facts: '{}',
      seen_at: databaseNow(tx),
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ address, datacenters, identity, epoch, seen_at: databaseNow(tx) }),
    )
    .returning(['id', 'max_sites as known'])
    .executeTakeFirstOrThrow()
  // The login of a host that a control of an earlier version granted cannot change it.
  if (known !== max_sites) await tx.updateTable('hosts').set({ max_sites }).where('id', '=', id).execute()
  return id
}

/**
 * Records that the host is alive, with the facts it reports.
 * @returns whether it is still current: false when the same host was started elsewhere since, the database was
 * restored, or the operator marked the host lost
 */
export async function reportHost(
  tx: Tx,
  { hostId, epoch }: { hostId: number; epoch: number },
  facts: object,
): Promise<boolean> {
  const { sites, last } = await tx
    .selectFrom('sites')
    .select(({ fn }) => [fn.countAll<number>().as('sites'), fn.max('id').as('last')])
    .where('host_id', '=', hostId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  const { numUpdatedRows } = await tx
    .updateTable('hosts')
    .set({ seen_at: databaseNow(tx), facts: JSON.stringify(facts), counted_sites: sites, counted_to: last ?? 0 })
    .where('id', '=', hostId)
    .where('epoch', '=', epoch)
    .where('state', 'in', usableStates)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Marks all hosts as silent, because the records are older than the reports in them. */
export async function forgetSeen(tx: Tx): Promise<void> {
  await tx.updateTable('hosts').set({ seen_at: 0 }).execute()
}

/** Returns whether no other start of the host has come since. See {@link reportHost}. */
export async function isNewestStart(tx: Tx, { hostId, epoch }: { hostId: number; epoch: number }): Promise<boolean> {
  const row = await tx.selectFrom('hosts').select(['epoch', 'state']).where('id', '=', hostId).executeTakeFirst()
  return row?.epoch === epoch && isUsable(row.state)
}

/** Returns the names of the other hosts that are in use. */
export async function otherHosts(tx: Tx, hostId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('hosts')
    .select('name')
    .where('id', '!=', hostId)
    .where('state', 'in', usableStates)
    .orderBy('id')
    .execute()
  return rows.map(({ name }) => name)
}

/** @returns `undefined` for a host that the database does not know */
export async function hostState(tx: Tx, hostId: number): Promise<HostState | undefined> {
  return (await tx.selectFrom('hosts').select('state').where('id', '=', hostId).executeTakeFirst())?.state
}

/** Returns the facts that a host reports. */
export async function hostFacts(tx: Tx, hostId: number): Promise<Record<string, unknown> | undefined> {
  const [row] = await factsRow(tx, { hostId })
  return row && (JSON.parse(row.facts) as Record<string, unknown>)
}

/** Returns the facts that hosts report, by their ids. */
export async function factsOfHosts(
  tx: Tx,
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, Record<string, unknown>>> {
  const rows = await tx
    .selectFrom('hosts')
    .select(['id', 'facts'])
    .where('id', 'in', hostIds.length > 0 ? hostIds : [0])
    .execute()
  return new Map(rows.map(({ id, facts }) => [id, JSON.parse(facts)]))
}

const factsRow = precompiled((tx, { hostId }: { hostId: number }) =>
  tx.selectFrom('hosts').select('facts').where('id', '=', hostId),
)

/** @returns the address of a host, as it last announced */
export async function hostAddress(tx: Tx, hostId: number): Promise<string | undefined> {
  const row = await tx.selectFrom('hosts').select('address').where('id', '=', hostId).executeTakeFirst()
  return row?.address
}

/** The facts that the database has about a host. */
export interface HostReportRecord {
  readonly name: string
  readonly state: HostState
  /** Empty if it serves all. */
  readonly datacenters: readonly string[]
  /** Milliseconds UTC, or 0 for never. */
  readonly seenAt: number
  readonly facts: Record<string, unknown>
}

/** Returns the reports of all hosts, except those that were removed. */
export async function hostReports(tx: Tx): Promise<HostReportRecord[]> {
  const rows = await tx
    .selectFrom('hosts')
    .select(['name', 'state', 'datacenters', 'seen_at', 'facts'])
    .where('state', '!=', 'removed')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    name: row.name,
    state: row.state,
    datacenters: row.datacenters.split(',').filter(Boolean),
    seenAt: row.seen_at,
    facts: JSON.parse(row.facts) as Record<string, unknown>,
  }))
}
