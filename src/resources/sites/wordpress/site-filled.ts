import type { HostServices } from '../../kit/host-services.ts'
import { findSite } from '../site.store.ts'

/** Adds Stead's own files to a site after its files were created or replaced. It may run again. */
export async function siteFilled(services: HostServices, siteId: number): Promise<void> {
  const site = await findSite(services.database.read, siteId)
  if (site) for (const { filled } of services.siteHooks) await filled?.(services, site)
}
