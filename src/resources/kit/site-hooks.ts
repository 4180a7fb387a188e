import type { Tx } from '../../platform/db/database.ts'
import type { ListedSite, Site } from '../sites/site.ts'
import type { Change } from './change.ts'
import type { HostServices } from './host-services.ts'

/**
 * What a resource does when something becomes of a site, in the very transaction where it is given one. Declared in the resource's `index.ts`, so that sites
 * know none of those who know them.
 */
export interface SiteHooks {
  /** It was ordered. @returns what the answer shows of what was done */
  readonly ordered?: (tx: Tx, site: Site, by: Change & { readonly now: number }) => Promise<Partial<ListedSite>>
  /**
   * Its files were made, or replaced by others (a clone, a restore, a sync), by a step of an operation on its host: what belongs among them
   * besides is laid. Nobody sees the site meanwhile; it may run twice.
   */
  readonly filled?: (services: HostServices, site: Site) => Promise<void>
  /** It answers visitors from now on, for the first time. The site is held. */
  readonly live?: (tx: Tx, site: Site, change: Change) => Promise<void>
  /** It never comes back from the trash: what belonged to it alone goes. The account's logs tell of it still. */
  readonly forgotten?: (tx: Tx, siteId: number) => Promise<void>
}
