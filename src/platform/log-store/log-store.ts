/*
 * High-volume log entries, separate from the main database. The terms:
 *
 * kind      the log: each has its own storage, so that its writers never wait for those of another.
 * position  the time and id of an entry: a total order within a site, newest first, that never changes. Pages follow
 *           positions, so that entries which arrive in the meantime move nothing.
 * id        assigned by the writer before the first try: an entry that is written again (because the outcome of an
 *           interrupted commit is unknown) is the same entry.
 * facet     a small number for everything that is filtered by exact choice (status and method, severity).
 * key       a text for filtering (an address); empty for a kind without one.
 * share     a site's limit in the log of a kind and day. Entries beyond it are dropped and counted.
 * notice    the one entry in a site's log of a day that reports how many were dropped; its body is their number.
 *
 * Both indexes besides the position's have the position at their end. A site has few facets, so a page is a merge of a
 * few ranges, read from their newest end. With any filter, the amount read depends on the page, not on the log.
 */

export type LogKind = 'server' | 'php'

/** The kinds whose entries have a key. */
export const KEYED: ReadonlySet<LogKind> = new Set<LogKind>(['server'])
export const LOG_KINDS: readonly LogKind[] = ['server', 'php']

/** The position of an entry among those of its site. */
export interface LogPosition {
  /** Milliseconds UTC. */
  readonly atMs: number
  readonly id: number
}

export interface LogRecord extends LogPosition {
  readonly siteId: number
  readonly facet: number
  readonly key: string
  /** The content that the kind stores, as text. */
  readonly body: string
}

/** The facet of notices. No filter by facets finds them. */
export const NOTICE_FACET = -1

/** Returns how many entries a notice reports; undefined for any other record. */
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
  /** Only these facets, by default all. */
  readonly facets?: readonly number[] | undefined
  readonly key?: string | undefined
  readonly limit: number
}

/** The entries to count, only by facets, so that an index answers. */
export interface LogCount extends Pick<LogQuery, 'kind' | 'siteId' | 'sinceMs'> {
  readonly facets: readonly number[]
  readonly most: number
}

/** Stores log entries by day. Any number of processes may write and read at the same time. */
export interface LogStore {
  /**
   * Stores all of them or fails. Existing entries stay unchanged. It leaves out entries of days that were already
   * dropped, of the far future, and beyond a site's share.
   */
  append(kind: LogKind, records: readonly LogRecord[]): Promise<void>
  /** Returns entries, newest first. */
  page(query: LogQuery): Promise<LogRecord[]>
  /** Returns how many entries match, at most `most`. */
  count(query: LogCount): Promise<number>
  /**
   * Drops whole days that ended before `nowMs - retentionMs`, and the oldest days beyond the total size. Prepares the
   * next days.
   */
  maintain(nowMs: number): Promise<void>
  close(): Promise<void>
}

/** How long entries are kept. Their day is dropped when all of it is older. */
export const RETENTION_DAYS = 7
