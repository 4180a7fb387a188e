import { sql } from 'kysely'
import type { PhpVersion } from '../../../hosting/php/runtime.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { listHousing } from '../installation.store.ts'
import { relocateSiteJob } from '../relocate/relocate-site.job.ts'
import { placesOfHosts, refusalOfPlace } from '../relocate/survey-hosts.ts'
import { VISIT_DAYS } from './host-changes.store.ts'
import type { WeighedHost, WeighedSite } from './plan-rebalance.ts'

/** A site that moved stays this long, so that the visits of a week decide. */
const SETTLED_MS = 7 * DAY_MS

/** Returns the operation that rebalances hosts and has not ended. */
export async function openRebalance(tx: Tx): Promise<number | undefined> {
  const open = tx.selectFrom('operations').select('id').where('type', '=', 'hosts.rebalance')
  return (await open.where('finished_at', 'is', null).executeTakeFirst())?.id
}

/** Returns the hosts that take sites, and their installed sites. */
export async function weighHosts(tx: Tx, now: number): Promise<{ hosts: WeighedHost[]; sites: WeighedSite[] }> {
  const places = await placesOfHosts(tx)
  const housing = new Map((await listHousing(tx)).map((each) => [each.id, each]))
  const hosts = places.map(({ room: { id, freeSites } }) => {
    const { name = '', maxSites = 0 } = housing.get(id) ?? {}
    return { id, name, maxSites, freeSites }
  })
  const fixed = await settledSites(tx, now)
  const rows = await installedSites(tx, hosts, dayOf(now) - VISIT_DAYS)
  const sites = rows.map((row) => ({
    ...{ id: row.id, name: row.name, hostId: row.host_id as number },
    ...{ diskBytes: Number(row.disk_bytes), visits: Number(row.visits), isFixed: fixed.has(row.id) },
    hostIds: places
      .filter((place) => {
        const needs = { datacenterCode: row.datacenter_code, phpVersion: row.php_version as PhpVersion }
        return refusalOfPlace(needs, row.database, place) === undefined
      })
      .map(({ room }) => room.id),
  }))
  return { hosts, sites }
}

function installedSites(tx: Tx, hosts: readonly WeighedHost[], sinceDay: number) {
  const ids = hosts.map(({ id }) => id)
  return tx
    .selectFrom('sites')
    .innerJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .leftJoin('site_statistics', 'site_statistics.site_id', 'sites.id')
    .select(['sites.id', 'name', 'sites.host_id', 'datacenter_code', 'php_version', 'site_homes.database'])
    .select([
      sql<number>`coalesce(database_bytes, 0) + coalesce(file_bytes, 0)`.as('disk_bytes'),
      sql<number>`coalesce((select sum(views) from page_view_days where page_view_days.site_id = sites.id and day >= ${sinceDay}), 0)`.as(
        'visits',
      ),
    ])
    .where('sites.host_id', 'in', ids.length > 0 ? ids : [0])
    .where('sites.deleted_at', 'is', null)
    .where('sites.state', 'in', ['live', 'disabled'])
    .orderBy('sites.id')
    .execute()
}

/** Returns sites that move now, or moved lately. */
async function settledSites(tx: Tx, now: number): Promise<ReadonlySet<number | null>> {
  const rows = await tx
    .selectFrom('operations')
    .select('site_id')
    .where('type', '=', relocateSiteJob.name)
    .where((is) =>
      is.or([
        is('finished_at', 'is', null),
        is.and([is('state', '=', 'succeeded'), is('finished_at', '>', now - SETTLED_MS)]),
      ]),
    )
    .execute()
  return new Set(rows.map(({ site_id }) => site_id))
}

/** Returns those of some sites that are on a host. */
export async function sitesOnHost(tx: Tx, siteIds: readonly number[], hostId: number): Promise<ReadonlySet<number>> {
  const rows = await tx
    .selectFrom('sites')
    .select('id')
    .where('id', 'in', siteIds)
    .where('host_id', '=', hostId)
    .where('deleted_at', 'is', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
