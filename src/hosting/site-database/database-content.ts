import type { PrefixChange } from './sql/dump-tables.ts'
import type { FoundInDump } from './sql/look-into-dump.ts'

/** A host's site, as far as its content is concerned. */
export interface SitePlace {
  readonly siteId: number
  /** Folder with the site's `web/` and `private/`. */
  readonly siteDirectory: string
  /** Who owns what is made in it; null: the one that Stead runs as. */
  readonly uid: number | null
}

/** Where the content of a site lies in its site directory. */
export const contentPlace = (
  siteId: number,
  { path, uid }: { readonly path: string; readonly uid: number | null },
): SitePlace => ({ siteId, siteDirectory: path, uid })

/** What is put in place of what, in every value of every table: text, JSON, percent-encoded, serialized PHP with its lengths. */
export interface AddressChange {
  /** Host name, with its port unless it is the usual one: `my.localhost:8081`. */
  readonly from: string
  readonly to: string
}

export interface DumpOptions {
  /** These tables only, by their names. Default: all. */
  readonly tables?: readonly string[]
  readonly signal?: AbortSignal
}

/** A site's database as it was at one moment, whatever the site writes meanwhile. */
export interface DatabaseSnapshot {
  /** Milliseconds UTC of that moment. */
  readonly takenAt: number
  /** Roughly what a dump will have. */
  readonly estimatedBytes: number
  /** What a dump lacks, or only one kind of database can take, in words. */
  readonly warning?: string
  /** MySQL text that MariaDB 10.11 imports: first all tables, then their rows; the last line says that it is complete. May be called again. */
  dump(options?: DumpOptions): AsyncIterable<Uint8Array>
  /** Gives its room back. May be called again. */
  close(): Promise<void>
}

/** A dump of another program, or of another site. */
export interface ForeignDump {
  /** Tables that begin with one text get another, with the options and rights that WordPress finds by it. */
  readonly prefixes?: readonly PrefixChange[]
  /** Host names whose site is to have its address with http, as every site here: visitors over https are shown https all the same. */
  readonly withoutHttps?: readonly string[]
}

export interface LoadOptions {
  /** These tables of the dump only; the others stay as they are in the current database. Default: all, and nothing else is left. */
  readonly tables?: readonly string[]
  /** Tables that are not in the dump stay as they are in the current database. */
  readonly keepsOthers?: boolean
  readonly changes?: readonly AddressChange[]
  /**
   * The dump may be of any program: compressed, in another charset, without a last line. What is no table is left out and named in the warning.
   * Default: it is Stead's own, and all of it must be there.
   */
  readonly foreign?: ForeignDump
  readonly signal?: AbortSignal
  /** Bytes of the dump that have been read. */
  readonly onProgress?: (doneBytes: number) => void
}

/** What came of a load. */
export interface Loaded {
  readonly tables: number
  readonly rows: number
  /** What of the dump the database does not have, in words. */
  readonly warning?: string
  /** What a foreign dump says of itself. */
  readonly found?: FoundInDump
}

/** What is there of a site's database, and may be asked at any moment, also after a crash. */
export interface DatabaseState {
  readonly hasCurrent: boolean
  readonly hasNext: boolean
  readonly hasPrevious: boolean
}

/**
 * The one door to a site's database as a whole, whatever kind it is. A new one is made beside the one in use, and switched in when it is complete:
 *
 * current   the one that the site runs on
 * next      made by `load`, not in use
 * previous  what was current before `switch`, until `cleanUp` or `switchBack`
 *
 * Every function may be called again after a crash: it goes on, or finds that all is done.
 */
export interface DatabaseContent {
  /** Bytes that it takes. */
  size(directory: SitePlace): Promise<number>
  /** Taken between two of the site's requests; the site waits for the moment that it takes, no longer. @throws SiteUnavailable */
  snapshot(directory: SitePlace): Promise<DatabaseSnapshot>
  /** Makes `next` of a dump; what was there by this name is dropped. @throws DumpUnreadable, which says where and why */
  load(directory: SitePlace, sql: AsyncIterable<Uint8Array>, options?: LoadOptions): Promise<Loaded>
  /**
   * Loads a dump of this site into a place of its own, compares what is there with what the dump says, and removes it again. The site is not
   * touched, and nothing of it counts as the site's. One at a time for each site.
   * @returns what differs, in words; undefined: nothing
   * @throws DumpUnreadable when it cannot be loaded; DiskFull
   */
  tryOut(
    directory: SitePlace,
    sql: AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<string | undefined>
  state(directory: SitePlace): Promise<DatabaseState>
  /** `next` becomes current, current becomes previous. No PHP of the site runs meanwhile. Without a `next`: nothing. */
  switch(directory: SitePlace): Promise<void>
  /** `previous` becomes current again, what was current is dropped. Without a `previous`: nothing. */
  switchBack(directory: SitePlace): Promise<void>
  /** Drops `previous` and `next`. */
  cleanUp(directory: SitePlace): Promise<void>
  /** Drops all. */
  drop(directory: SitePlace): Promise<void>
}

/** Hands `work` a snapshot of a database, which keeps its space until that ends. */
export async function withSnapshot<Result>(
  content: Pick<DatabaseContent, 'snapshot'>,
  place: SitePlace,
  work: (snapshot: DatabaseSnapshot) => Promise<Result>,
): Promise<Result> {
  const snapshot = await content.snapshot(place)
  try {
    return await work(snapshot)
  } finally {
    await snapshot.close()
  }
}

/** A dump cannot be loaded: it is cut off, or is no dump. The message says where. */
export class DumpUnreadable extends Error {
  override readonly name = 'DumpUnreadable'
}
