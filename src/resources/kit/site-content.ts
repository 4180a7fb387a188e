import type { CoreSource } from '../../hosting/core-library/core-source.ts'
import type { FileScope, WantedEntry } from '../../hosting/site-files/file-content.ts'

/** Content of a site, to be copied to another one. It can be read more than once. */
export interface SiteContent {
  /** Returns the approximate size of all its files. */
  fileBytes(): Promise<number>
  files(scope: FileScope): AsyncIterable<WantedEntry>
  /** Passes its database to `work`, as MySQL text, with its approximate size. */
  withDatabase(work: (dump: AsyncIterable<Uint8Array>, bytes: number) => Promise<unknown>): Promise<void>
}

/** Content of a site in the backup storage, for a host that does not have the site. */
export interface StoredContent extends SiteContent {
  /** The WordPress release of the site, if it exists nowhere else. */
  readonly core: CoreSource
}
