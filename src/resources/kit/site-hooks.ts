import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ListedSite, Site } from '../sites/site.ts'
import type { Change } from './change.ts'
import type { StoredContent } from './site-content.ts'

/**
 * Functions of a resource for events in the life of a site, called in the same transaction. Declared in the resource's
 * `index.ts`, so that sites do not depend on the resources that depend on them. Hosts pass their `Services`.
 */
export interface SiteHooks<Services> {
  /**
   * Called when it is requested.
   * @returns fields of the response that this changed
   */
  readonly ordered?: (
    tx: Tx,
    site: Site,
    by: Change & { readonly now: number; readonly config: Config },
  ) => Promise<Partial<ListedSite>>
  /**
   * Called when its files were created or replaced (by a clone, a restore, or a sync), in a step of an operation on its
   * host. Adds the resource's own files. Visitors cannot see the site meanwhile. May run twice.
   */
  readonly filled?: (services: Services, site: Site) => Promise<void>
  /**
   * Called when another host is to copy its content. Orders backups for that, which take no slot.
   * @returns the backups, and the operations that take them
   */
  readonly copied?: (
    tx: Tx,
    site: Site,
    by: { readonly now: number },
  ) => Promise<{ readonly backups: readonly number[]; readonly operations: readonly number[] }>
  /**
   * Opens the content that such backups have, on the other host.
   * @throws PermanentFailure when one is missing, or this host does not see it
   */
  readonly openCopied?: (services: Services, siteId: number, backups: readonly number[]) => Promise<StoredContent>
  /** Called when it becomes reachable for visitors for the first time. The site is held. */
  readonly live?: (tx: Tx, site: Site, change: Change) => Promise<void>
  /**
   * Called when its database was replaced by that of another moment or site, in the commit that opens it again. Not
   * called when only some tables were copied from another site.
   */
  readonly databaseReplaced?: (tx: Tx, replaced: DatabaseReplaced) => Promise<void>
  /**
   * Called when it is purged from the trash. Removes what belonged only to it. The account's logs keep their entries.
   */
  readonly forgotten?: (tx: Tx, siteId: number) => Promise<void>
}

/** How the database of a site was replaced. */
export interface DatabaseReplaced {
  readonly siteId: number
  /** The site whose database it is now. The same site for its own backup, `null` for a site that is not here. */
  readonly from: number | null
  /** For a copy of another site: it has everything that was there at this moment. Milliseconds UTC. */
  readonly at?: number
  /** The operation. */
  readonly by: number
  /** The operation that it undoes. */
  readonly undoOf?: number | undefined
}
