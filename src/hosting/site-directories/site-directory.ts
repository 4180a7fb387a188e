import type { SiteDirectoryRecord } from './directory.store.ts'

/** A folder for the files and database of one site, now or later. */
export interface SiteDirectory extends SiteDirectoryRecord {
  readonly path: string
  /** Its user and group, or `null` when Stead does not run as root. */
  readonly uid: number | null
}
