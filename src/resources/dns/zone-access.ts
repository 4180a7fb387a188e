import type { Tx } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { holds, requireAccess } from '../access/access.ts'
import type { Caller } from '../kit/caller.ts'
import { type SiteRights, sitesWithRights } from '../sites/public.ts'
import { findZone, holdZone, sitesOfZone, visibleZones } from './zone.store.ts'
import type { Zone } from './zone.ts'

interface Asking {
  readonly tx: Tx
  readonly caller: Caller
}

/**
 * Returns the zone of a path for an account that may manage it: the owner, or a collaborator with `manage_dns` on all
 * sites that its records lead to. In a transaction it is held.
 * @throws Problem `not_found` for an account that sees none of its sites, `forbidden`
 */
export async function managedZone({ tx, caller }: Asking, zoneId: number): Promise<Zone> {
  const zone = await (tx.isTransaction ? holdZone : findZone)(tx, zoneId)
  if (!zone) throw notFound()
  if (zone.accountId === caller.accountId) return zone
  const ids = await sitesOfZone(tx, zone.id)
  const [one, ...others] = await sitesWithRights(tx, caller.accountId, ids)
  if (!one) throw notFound()
  for (const site of [one, ...others]) requireAccess('manage DNS', caller, site)
  if (others.length + 1 < ids.length) requireAccess('manage DNS', caller, { ...one, isOwned: false, roles: [] })
  return zone
}

/** Returns the zones that the caller may manage, by name. */
export async function managedZones({ tx, caller }: Asking): Promise<Zone[]> {
  const sites = (await sitesWithRights(tx, caller.accountId)).filter((site: SiteRights) => holds('manage DNS', site))
  const known = new Set(sites.map(({ id }) => id))
  const zones = await visibleZones(
    tx,
    caller.accountId,
    sites.filter(({ isOwned }) => !isOwned).map(({ id }) => id),
  )
  const managed: Zone[] = []
  for (const zone of zones)
    if (zone.accountId === caller.accountId || (await sitesOfZone(tx, zone.id)).every((id) => known.has(id)))
      managed.push(zone)
  return managed
}
