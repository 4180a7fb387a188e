import type { Datacenter } from '../../../config.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { databaseOfSite } from '../runtime.store.ts'
import type { Site } from '../site.ts'
import { hostsThatRun, openHosts } from './creation.store.ts'
import { choosePlace } from './placement.ts'

/**
 * Returns a host for a site whose own is lost, by the rules for new sites. Returns undefined when no host of its
 * datacenter has free places.
 */
export async function placeAgain(
  tx: Tx,
  { id, datacenterCode, phpVersion }: Pick<Site, 'id' | 'datacenterCode' | 'phpVersion'>,
  datacenters: readonly Datacenter[],
): Promise<number | undefined> {
  const fitting = await hostsThatRun(tx, await openHosts(tx), phpVersion, await databaseOfSite(tx, id))
  try {
    return choosePlace(datacenterCode, null, datacenters, fitting).hostId
  } catch (error) {
    // No free place, or a datacenter that is no longer offered.
    if (error instanceof Problem) return undefined
    throw error
  }
}
