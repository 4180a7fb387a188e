/*
 * High-volume log entries, apart from the main database. The words:
 *
 * kind      which log: each has storage of its own, so that its writers never wait for those of another.
 * position  time and id of an entry: a total order within a site, newest first, that never changes. Paging goes by position,
 *           so that entries which arrive meanwhile move nothing.
 * id        given by who writes, before the first try: an entry that is written again (nobody knows whether a commit that was
 *           cut off took place) is the same entry.
 * facet     a small number that says all that can be filtered by exact choice (status and method, severity).
 * key       a text that can be filtered by (an address); empty where a kind has none.
 * share     what a site may have in the log of a kind and day. Over it entries are dropped, and counted.
 * notice    the one entry in which a site's log of a day says how many were dropped; its body is their number.
 *
 * Both indexes beside the position have the position at their end. A site has few facets, so a page is a merge of a few ranges
 * that are read from their newest end: whatever the filter, what is read is about the page, not the log.
 */

export type LogKind = 'server' | 'php'

/** Kinds whose entries have a key. */
export const KEYED: ReadonlySet<LogKind> = new Set<LogKind>(['server'])
export const KINDS: readonly LogKind[] = ['server', 'php']

/** Where an entry stands among those of its site. */
export interface LogPosition {
  /** Milliseconds UTC. */
  readonly atMs: number
  readonly id: number
}

export interface LogRecord extends LogPosition {
  readonly siteId: number
  readonly facet: number
  readonly key: string
  /** Whatever the kind keeps, as text. */
  readonly body: string
}

/** The facet of notices: no filter by facets finds them. */
export const NOTICE_FACET = -1

/** How many entries a notice speaks of; undefined for any other record. */
export const droppedIn = ({ facet, body }: LogRecord): number | undefined =>
  facet === NOTICE_FACET ? Number(body) : undefined

export const noticeOf = (siteId: number, atMs: number, dropped: number): LogRecord => ({
  siteId,
  atMs,
  id: 0,
  facet: NOTICE_FACET,
  key: '',
  body: String(dropped),
})

export interface LogQuery {
  readonly kind: LogKind
  readonly siteId: number
  /** Only entries that are older than this position. */
  readonly before: LogPosition
  /** Only entries from this time on. */
  readonly sinceMs: number
  /** Only these facets; all when absent. */
  readonly facets?: readonly number[] | undefined
  readonly key?: string | undefined
  readonly limit: number
}

/** Which entries are counted: by facets alone, so that an index answers. */
export interface LogCount extends Pick<LogQuery, 'kind' | 'siteId' | 'sinceMs'> {
  readonly facets: readonly number[]
  readonly most: number
}

/** Keeps log entries by day. Any number of processes may write and read at the same time. */
export interface LogStore {
  /**
   * Stores them or fails as a whole; those that are there already stay as they are. Entries of days that are over and gone, or
   * far in the future, are left out, and so is what is over a site's share.
   */
  append(kind: LogKind, records: readonly LogRecord[]): Promise<void>
  /** Newest first. */
  page(query: LogQuery): Promise<LogRecord[]>
  /** Returns how many entries match, at most `most`. */
  count(query: LogCount): Promise<number>
  /** Drops whole days that ended before `nowMs - retentionMs`, the oldest of what is too much, and makes ready what the next days need. */
  maintain(nowMs: number): Promise<void>
  close(): Promise<void>
}

/** How long entries are kept; their day is dropped when all of it is older. */
export const RETENTION_DAYS = 7
