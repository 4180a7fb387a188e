import type { Tx } from '../../platform/db/database.ts'
import { aboutSite, type Change } from '../kit/change.ts'
import type { Site } from '../sites/public.ts'
import { writeLicense } from './write-license.job.ts'

/** Removes the license that the database of a clone has from its source. */
export async function dropCopiedLicense(_tx: Tx, site: Site, change: Change): Promise<void> {
  if (site.clonedFromId !== null) await change.start(writeLicense, { siteId: site.id }, { about: aboutSite(site) })
}
