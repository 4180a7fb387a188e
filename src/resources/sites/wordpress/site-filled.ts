import type { HostServices } from '../../kit/host-services.ts'
import { findSite } from '../site.store.ts'

/** The files of a site were made, or replaced by others: what belongs among them besides is laid. It may run again. */
export async function siteFilled(services: HostServices, siteId: number): Promise<void> {
  const site = await findSite(services.database.read, siteId)
  if (site) for (const { filled } of services.siteHooks) await filled?.(services, site)
}
