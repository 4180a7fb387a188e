import { takesSites } from '../../../hosting/host-state.ts'
import type { DatabaseKind } from '../../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { precompiled } from '../../../platform/db/precompiled.ts'
import type { Account } from '../../account/public.ts'
import { canRun, type HostRuntimes, runtimesOfHosts } from '../runtime.store.ts'
import type { HostRoom } from './placement.ts'

/** What a new site depends on, besides the request. */
export interface CreationFacts {
  readonly account: Pick<Account, 'id' | 'email' | 'plan' | 'defaultPhpVersion' | 'defaultDatacenter'>
  /** Hosts that may get new sites, in order of id, with their free places. */
  readonly hosts: readonly HostRoom[]
}

/**
 * Returns all of it from one query, because a query costs more than its result.
 * @param accountId the account that will own the site
 */
export async function creationFacts(tx: Tx, accountId: number): Promise<CreationFacts> {
  const rows = await factRows(tx, { accountId })
  const account = rows[0] as (typeof rows)[number]
  return {
    account: {
      id: accountId,
      email: account.email,
      plan: account.plan,
      defaultPhpVersion: account.default_php_version,
      defaultDatacenter: account.default_datacenter,
    },
    hosts: await roomOf(tx, rows.filter(isHost)),
  }
}

const factRows = precompiled((tx, { accountId }: { accountId: number }) =>
  tx
    .selectFrom('accounts')
    .leftJoin('hosts', (join) => join.on(takesSites(tx)))
    .select(['email', 'plan', 'default_php_version', 'default_datacenter'])
    .select(['hosts.id as host_id', 'datacenters', 'max_sites', 'counted_sites', 'counted_to'])
    .select(({ selectFrom }) => [
      selectFrom('sites')
        .select(({ fn }) => fn.max('id').as('last'))
        .as('last_site'),
    ])
    .where('accounts.id', '=', accountId)
    .orderBy('hosts.id'),
)

/** Returns the hosts that may get new sites, in order of id. */
export async function openHosts(tx: Tx): Promise<HostRoom[]> {
  const rows = await tx
    .selectFrom('hosts')
    .select(['hosts.id as host_id', 'datacenters', 'max_sites', 'counted_sites', 'counted_to'])
    .select(({ selectFrom }) => [
      selectFrom('sites')
        .select(({ fn }) => fn.max('id').as('last'))
        .as('last_site'),
    ])
    .where(takesSites(tx))
    .orderBy('hosts.id')
    .execute()
  return roomOf(tx, rows)
}

/**
 * Returns the hosts that run a PHP version, or all of them when none does. In that case, the caller reports the error.
 */
export async function hostsThatRun(
  tx: Tx,
  hosts: readonly HostRoom[],
  version: string | undefined,
  database?: DatabaseKind,
): Promise<readonly HostRoom[]> {
  if (hosts.length < 2 || version === undefined) return hosts
  const ids = hosts.map(({ id }) => id)
  const runtimes = await runtimesOfHosts(tx, ids)
  const fit = hosts.filter(({ id }) => canRun(runtimes.get(id) as HostRuntimes, version, database))
  return fit.length > 0 ? fit : hosts
}

interface CountedHost {
  readonly host_id: number
  readonly datacenters: string
  readonly max_sites: number
  /** From the host's last report: see `reportHost`. */
  readonly counted_sites: number
  readonly counted_to: number
  readonly last_site: number | null
}

const isHost = <Row extends { host_id: number | null }>(row: Row): row is Row & CountedHost => row.host_id !== null

/**
 * Counts the sites added since the hosts' reports only if that decides: when there are several hosts, or one may be
 * full.
 */
async function roomOf(tx: Tx, hosts: readonly CountedHost[]): Promise<HostRoom[]> {
  const atMost = (host: CountedHost) => host.counted_sites + Math.max(0, (host.last_site ?? 0) - host.counted_to)
  const isPlain = hosts.length === 1 && hosts.every((host) => atMost(host) < host.max_sites)
  const uncounted = isPlain ? undefined : await uncountedSites(tx)
  return hosts.map((host) => ({
    id: host.host_id,
    datacenters: host.datacenters.split(',').filter(Boolean),
    freeSites: host.max_sites - (uncounted ? host.counted_sites + (uncounted.get(host.host_id) ?? 0) : atMost(host)),
  }))
}

async function uncountedSites(tx: Tx): Promise<Map<number, number>> {
  const rows = await tx
    .selectFrom('hosts')
    .innerJoin('sites', 'sites.host_id', 'hosts.id')
    .select(({ fn }) => ['hosts.id', fn.countAll<number>().as('count')])
    .whereRef('sites.id', '>', 'hosts.counted_to')
    .where('sites.deleted_at', 'is', null)
    .groupBy('hosts.id')
    .execute()
  return new Map(rows.map(({ id, count }) => [id, Number(count)]))
}
