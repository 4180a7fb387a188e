import type { Tx } from '../platform/db/database.ts'
import type { Route } from './route.ts'
import type { RouteChange } from './routes.ts'

/** The route of a host name; `undefined` when no site that exists has it. */
export async function loadRoute(tx: Tx, hostName: string): Promise<Route | undefined> {
  const row = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .innerJoin('hosts', 'hosts.id', 'sites.host_id')
    .select([
      'routes.host_name',
      'sites.id',
      'sites.state',
      'sites.maintenance',
      'sites.edge_cache',
      'sites.cache_epoch',
      'sites.cdn',
      'sites.cdn_epoch',
      'sites.defensive_until',
      'hosts.address',
    ])
    .where('routes.host_name', '=', hostName)
    .where('sites.deleted_at', 'is', null)
    .executeTakeFirst()
  return (
    row && {
      hostName: row.host_name,
      siteId: row.id,
      state: row.state,
      upstream: row.address,
      primaryHost: null,
      maintenance: row.maintenance === 1,
      edgeCache: row.edge_cache === 1,
      cacheEpoch: row.cache_epoch,
      cdn: row.cdn === 1,
      cdnEpoch: row.cdn_epoch,
      defensiveUntilMs: row.defensive_until ?? 0,
    }
  )
}

/** Host names whose route changed at or after a moment (milliseconds UTC). */
export async function routesChangedSince(tx: Tx, sinceMs: number): Promise<RouteChange[]> {
  return tx
    .selectFrom('routes')
    .select(['host_name as hostName', 'changed_at as changedAtMs'])
    .where('changed_at', '>=', sinceMs)
    .execute()
}
