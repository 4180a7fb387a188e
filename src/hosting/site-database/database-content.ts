import type { ChangedParts, DatabaseChange, DatabaseSums, DatabaseTotals } from './database-sums.ts'
import type { FoundInDump } from './sql/dump-facts.ts'
import type { PrefixChange } from './sql/prefixes.ts'

/** A site of this host, as its content needs it. */
export interface SitePlace {
  readonly siteId: number
  /** The folder with the site's `web/` and `private/`. */
  readonly siteDirectory: string
  /** The owner of new files in it, or null for the user that Stead runs as. */
  readonly uid: number | null
}

/** Returns where a site's content is in its site directory. */
export const contentPlace = (
  siteId: number,
  { path, uid }: { readonly path: string; readonly uid: number | null },
): SitePlace => ({ siteId, siteDirectory: path, uid })

/** A replacement in every value of every table: text, JSON, percent-encoded, and serialized PHP with its lengths. */
export interface AddressChange {
  /** The host name, with its port unless it is the usual one: `my.localhost:8081`. */
  readonly from: string
  readonly to: string
}

export interface DumpOptions {
  /** The names of the only tables to dump. Default: all. */
  readonly tables?: readonly string[]
  /** Parts of tables, by name. Only rows in them are dumped. */
  readonly parts?: Readonly<Record<string, ChangedParts>>
  readonly signal?: AbortSignal
}

/** A site's database as it was at one moment, whatever the site writes meanwhile. */
export interface DatabaseSnapshot {
  /** That moment, in milliseconds UTC. */
  readonly takenAt: number
  /** The approximate size of a dump. */
  readonly estimatedBytes: number
  /** A message about what a dump lacks, or what only one kind of database can restore. */
  readonly warning?: string
  /**
   * Returns MySQL text that MariaDB 10.11 can import: first all tables, then their rows. The last line says that it is
   * complete. May be called again.
   */
  dump(options?: DumpOptions): AsyncIterable<Uint8Array>
  /**
   * Sums up its rows. Not for each kind of database, and undefined for content that a server cannot sum up.
   * @param like sums of the same database to compare with
   */
  sums?(like?: DatabaseSums): Promise<DatabaseSums | undefined>
  /** Frees its space. May be called again. */
  close(): Promise<void>
}

/** A dump of another program, or of another site. */
export interface ForeignDump {
  /** Changes of table prefixes, including the options and rights that WordPress finds by them. */
  readonly prefixes?: readonly PrefixChange[]
  /** Host names whose site gets an http address, like every site here. Visitors over https still see https. */
  readonly withoutHttps?: readonly string[]
}

export interface LoadOptions {
  /**
   * The names of the only tables to load. The others stay as in the current database. Default: all, and no others
   * remain.
   */
  readonly tables?: readonly string[]
  /** Whether tables that are not in the dump stay as they are in the current database. */
  readonly keepsOthers?: boolean
  readonly changes?: readonly AddressChange[]
  /**
   * Set if the dump may come from any program: compressed, in another charset, without a last line. Anything other than
   * tables is left out and named in the warning. Default: it is Stead's own, and all of it is required.
   */
  readonly foreign?: ForeignDump
  readonly signal?: AbortSignal
  /** Called with the number of bytes of the dump that have been read. */
  readonly onProgress?: (doneBytes: number) => void
}

/** The result of a load. */
export interface Loaded {
  readonly tables: number
  readonly rows: number
  /** A message about parts of the dump that the database lacks. */
  readonly warning?: string
  /** What a foreign dump contains. */
  readonly found?: FoundInDump
}

/** Which databases of a site exist. Can be queried at any moment, even after a crash. */
export interface DatabaseState {
  readonly hasCurrent: boolean
  readonly hasNext: boolean
  readonly hasPrevious: boolean
}

/**
 * The only interface to a site's database as a whole, for each kind of database. A new one is created next to the one
 * in use, and switched in when it is complete:
 *
 * current   the one that the site uses
 * next      created by `load`, not in use
 * previous  was current before `switch`, until `cleanUp` or `switchBack`
 *
 * Every function may be called again after a crash. It continues, or finds that all is done.
 */
export interface DatabaseContent {
  /** Returns its size in bytes. */
  size(directory: SitePlace): Promise<number>
  /**
   * Takes a snapshot between two of the site's requests. The site waits only for that moment. @throws SiteUnavailable
   */
  snapshot(directory: SitePlace): Promise<DatabaseSnapshot>
  /** Creates `next` from a dump, and drops any earlier `next`. @throws DumpUnreadable, with the place and the reason */
  load(directory: SitePlace, sql: AsyncIterable<Uint8Array>, options?: LoadOptions): Promise<Loaded>
  /**
   * Loads a dump of this site into a separate place, compares the result with the dump, and removes it again. The site
   * is not touched, and the copy does not count towards its quota. Runs once at a time for each site.
   * @returns the differences, in words, or undefined if there are none
   * @throws DumpUnreadable when it cannot be loaded; DiskFull
   */
  tryOut(
    directory: SitePlace,
    sql: AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<string | undefined>
  state(directory: SitePlace): Promise<DatabaseState>
  /** Makes `next` current, and current previous. No PHP of the site runs meanwhile. Does nothing without a `next`. */
  switch(directory: SitePlace): Promise<void>
  /** Makes `previous` current again, and drops what was current. Does nothing without a `previous`. */
  switchBack(directory: SitePlace): Promise<void>
  /** Sums up what `current` has, where the snapshots of the kind have sums. Undefined for others. */
  totals(directory: SitePlace): Promise<DatabaseTotals | undefined>
  /**
   * Replaces what has changed in `current`, which nobody uses: a copy that had the content from before the change. May
   * be called again after a crash.
   * @param sql dump of the changed tables and parts
   * @throws DumpUnreadable, DiskFull
   */
  bringLevel(
    directory: SitePlace,
    sql: AsyncIterable<Uint8Array>,
    change: DatabaseChange,
    options?: Pick<LoadOptions, 'signal' | 'onProgress'>,
  ): Promise<void>
  /** Drops `previous` and `next`. */
  cleanUp(directory: SitePlace): Promise<void>
  /** Drops everything. */
  drop(directory: SitePlace): Promise<void>
}

/** Passes `work` a snapshot of a database, which keeps its space until `work` ends. */
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

/** A dump cannot be loaded: it is cut off, or is not a dump. The message includes the place. */
export class DumpUnreadable extends Error {
  override readonly name = 'DumpUnreadable'
}
