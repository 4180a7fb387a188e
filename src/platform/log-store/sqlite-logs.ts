import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DAY_MS } from '../durations.ts'
import { AHEAD_MS, dayName, dayOf, daysOf, daysSince } from './days.ts'
import {
  KEYED,
  LOG_KINDS,
  type LogCount,
  type LogKind,
  type LogQuery,
  type LogRecord,
  noticeOf,
  RETENTION_DAYS,
} from './log-store.ts'
import { admitted, type LogLimits, recordBytes, SUMS_MS } from './shares.ts'

/** The wait for another process's transaction blocks the thread, which is dedicated to logs. */
const LOCK_TIMEOUT_MS = 10_000
/** How often a writer checks whether all files together are too large. */
const SIZES_MS = 600_000

/*
 * One file per kind and day. The rows are in order of site and position, so that a page of the log is read in one
 * piece. Compared with a plain table with one more index, writes are as fast, and a page reads 20 pages of the file
 * instead of 200.
 */
const tables = (kind: LogKind): string => `
  create table if not exists entries (site_id integer not null, at integer not null, id integer not null,
    facet integer not null, key text not null, body text not null, primary key (site_id, at, id)) without rowid, strict;
  create index if not exists entries_facet on entries (site_id, facet, at, id);
  create table if not exists shares (site_id integer primary key, bytes integer not null, dropped integer not null,
    noticed_at integer) strict;
  ${KEYED.has(kind) ? 'create index if not exists entries_key on entries (site_id, key, facet, at, id);' : ''}`

/** The files of a day: the database, and SQLite's files next to it. */
const FILE = /^(server|php)-(\d{4}-\d\d-\d\d)\.db(?:-wal|-shm)?$/

/**
 * Stores log entries in SQLite files of a folder. All methods block, so they are meant for a dedicated thread, see
 * `threaded-logs.ts`.
 */
export class SqliteLogs {
  readonly #folder: string
  readonly #limits: LogLimits
  #sizesAtMs = Number.NEGATIVE_INFINITY
  readonly #writers = new Map<string, DayWriter>()
  readonly #readers = new Map<string, DayReader>()

  constructor(folder: string, limits: LogLimits) {
    this.#folder = folder
    this.#limits = limits
  }

  append(kind: LogKind, records: readonly LogRecord[], nowMs = Date.now()): void {
    const first = dayOf(nowMs) - RETENTION_DAYS
    const last = dayOf(nowMs + AHEAD_MS)
    const byDay = Map.groupBy(records, ({ atMs }) => dayOf(atMs))
    for (const [day, rows] of byDay) if (day >= first && day <= last) this.#writer(kind, day).append(rows, this.#limits)
    if (performance.now() - this.#sizesAtMs < SIZES_MS) return
    this.#sizesAtMs = performance.now()
    this.#dropTooMuch(nowMs)
  }

  page(query: LogQuery): LogRecord[] {
    const found: LogRecord[] = []
    for (const day of daysOf(query, RETENTION_DAYS)) {
      if (found.length >= query.limit) break
      const reader = this.#reader(query.kind, day)
      if (reader) found.push(...reader.page({ ...query, limit: query.limit - found.length }))
    }
    return found
  }

  count(query: LogCount): number {
    let count = 0
    for (const day of daysSince(query.sinceMs, RETENTION_DAYS)) {
      if (count >= query.most) break
      count += this.#reader(query.kind, day)?.count({ ...query, most: query.most - count }) ?? 0
    }
    return count
  }

  maintain(nowMs: number): void {
    if (!existsSync(this.#folder)) return
    for (const name of readdirSync(this.#folder)) {
      const [, kind, day] = FILE.exec(name) ?? []
      if (!kind || Date.parse(`${day}T00:00:00Z`) + DAY_MS > nowMs - RETENTION_DAYS * DAY_MS) continue
      this.#forget(`${kind}-${day}.db`)
      rmSync(join(this.#folder, name), { force: true })
    }
    this.#dropTooMuch(nowMs)
    // Open files of dropped days would keep their space allocated.
    for (const open of [this.#writers, this.#readers])
      for (const name of open.keys()) if (!existsSync(join(this.#folder, name))) this.#forget(name)
  }

  /** Drops the oldest days until the rest is within the total. The current day stays, because it has its own limits. */
  #dropTooMuch(nowMs: number): void {
    const today = dayName(dayOf(nowMs))
    const files = readdirSync(this.#folder).flatMap((name) => {
      const [, kind, day] = FILE.exec(name) ?? []
      const stats = kind && statSync(join(this.#folder, name), { throwIfNoEntry: false })
      return stats ? [{ name, database: `${kind}-${day}.db`, day: day as string, bytes: stats.blocks * 512 }] : []
    })
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    for (const file of files.sort((a, b) => (a.day < b.day ? -1 : 1))) {
      if (bytes <= this.#limits.totalBytes || file.day >= today) return
      this.#forget(file.database)
      rmSync(join(this.#folder, file.name), { force: true })
      bytes -= file.bytes
    }
  }

  close(): void {
    for (const name of [...this.#writers.keys(), ...this.#readers.keys()]) this.#forget(name)
  }

  #forget(name: string): void {
    this.#writers.get(name)?.close()
    this.#writers.delete(name)
    this.#readers.get(name)?.close()
    this.#readers.delete(name)
  }

  #writer(kind: LogKind, day: number): DayWriter {
    const name = fileName(kind, day)
    let writer = this.#writers.get(name)
    if (!writer) {
      // Today, and yesterday for late entries.
      if (this.#writers.size >= 2 * LOG_KINDS.length) this.#closeOldest(this.#writers)
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      writer = new DayWriter(join(this.#folder, name), kind)
      this.#writers.set(name, writer)
    }
    return writer
  }

  #reader(kind: LogKind, day: number): DayReader | undefined {
    const name = fileName(kind, day)
    const file = join(this.#folder, name)
    const known = this.#readers.get(name)
    if (known) return known
    if (!existsSync(file)) return undefined
    const reader = DayReader.open(file)
    if (reader) {
      if (this.#readers.size >= LOG_KINDS.length * (RETENTION_DAYS + 2)) this.#closeOldest(this.#readers)
      this.#readers.set(name, reader)
    }
    return reader
  }

  #closeOldest(open: Map<string, { close(): void }>): void {
    const [name, oldest] = open.entries().next().value as [string, { close(): void }]
    oldest.close()
    open.delete(name)
  }
}

const fileName = (kind: LogKind, day: number): string => `${kind}-${dayName(day)}.db`

class DayWriter {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #replace: StatementSync
  readonly #shareOf: StatementSync
  readonly #setShare: StatementSync
  readonly #sum: StatementSync
  #sums = { bytes: 0, sites: 0 }
  #sumsAtMs = Number.NEGATIVE_INFINITY

  constructor(file: string, kind: LogKind) {
    // Visitors' addresses are private. SQLite's log next to the file gets the file's mode.
    closeSync(openSync(file, 'a', 0o600))
    chmodSync(file, 0o600)
    this.#database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS })
    try {
      // NORMAL: no commit waits for the disk. A killed process loses nothing, and a power failure may lose the last
      // seconds.
      this.#database.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = normal')
      this.#database.exec('pragma journal_size_limit = 16777216; pragma cache_size = -16000')
      this.#database.exec(`begin immediate; ${tables(kind)} commit`)
      const prepare = (text: string) => this.#database.prepare(text)
      this.#insert = prepare('insert or ignore into entries values (?, ?, ?, ?, ?, ?)')
      this.#replace = prepare('insert or replace into entries values (?, ?, ?, ?, ?, ?)')
      this.#shareOf = prepare('select bytes, dropped, noticed_at from shares where site_id = ?')
      this.#setShare = prepare('insert or replace into shares values (?, ?, ?, ?)')
      this.#sum = prepare('select coalesce(sum(bytes), 0) as bytes, count(*) as sites from shares')
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  append(records: readonly LogRecord[], limits: LogLimits): void {
    // Neighbors in the file come one after another.
    const sorted = records.toSorted((a, b) => a.siteId - b.siteId || a.atMs - b.atMs || a.id - b.id)
    this.#database.exec('begin immediate')
    try {
      for (const [siteId, ofSite] of Map.groupBy(sorted, (each) => each.siteId)) this.#add(siteId, ofSite, limits)
      this.#database.exec('commit')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      throw error
    }
  }

  #add(siteId: number, records: readonly LogRecord[], limits: LogLimits): void {
    const share = (this.#shareOf.get(siteId) ?? { bytes: 0, dropped: 0, noticed_at: null }) as unknown as ShareRow
    const { bytes: dayBytes, sites } = this.#day()
    const kept = admitted(records, { bytes: share.bytes, dayBytes, sites }, limits)
    let bytes = share.bytes
    for (const each of kept) if (this.#insert.run(...valuesOf(each)).changes > 0) bytes += recordBytes(each)
    const dropped = share.dropped + records.length - kept.length
    const noticedAt = share.noticed_at ?? (dropped > 0 ? (records[0] as LogRecord).atMs : null)
    this.#setShare.run(siteId, bytes, dropped, noticedAt)
    if (dropped > share.dropped) this.#replace.run(...valuesOf(noticeOf(siteId, noticedAt as number, dropped)))
  }

  #day(): { bytes: number; sites: number } {
    if (performance.now() - this.#sumsAtMs > SUMS_MS) {
      this.#sums = this.#sum.get() as { bytes: number; sites: number }
      this.#sumsAtMs = performance.now()
    }
    return this.#sums
  }

  close(): void {
    this.#database.close()
  }
}

interface ShareRow {
  bytes: number
  dropped: number
  noticed_at: number | null
}

const valuesOf = (record: LogRecord) =>
  [record.siteId, record.atMs, record.id, record.facet, record.key, record.body] as const

interface Row {
  site_id: number
  at: number
  id: number
  facet: number
  key: string
  body: string
}

const record = (row: Row): LogRecord => ({
  siteId: row.site_id,
  atMs: row.at,
  id: row.id,
  facet: row.facet,
  key: row.key,
  body: row.body,
})

const newestFirst = (a: { at: number; id: number }, b: { at: number; id: number }): number => b.at - a.at || b.id - a.id

class DayReader {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** @returns undefined while the creator of the file has not created the table */
  static open(file: string): DayReader | undefined {
    const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS })
    try {
      database.exec('pragma query_only = on')
      if (database.prepare("select 1 from sqlite_master where name = 'entries_facet'").get())
        return new DayReader(database)
    } catch (error) {
      database.close()
      throw error
    }
    database.close()
    return undefined
  }

  page({ siteId, before, sinceMs, facets, key, limit }: LogQuery): LogRecord[] {
    const position = [sinceMs, before.atMs, before.id] as const
    if (!facets && key === undefined) {
      const rows = this.#all(`select * from entries where site_id = ? and ${older} ${order} limit ?`, [
        siteId,
        ...position,
        limit,
      ])
      return (rows as unknown as Row[]).map(record)
    }
    const wanted = facets && new Set(facets)
    const [by, values] = key === undefined ? ['site_id = ?', [siteId]] : ['site_id = ? and key = ?', [siteId, key]]
    const found: { at: number; id: number }[] = []
    for (const facet of this.#facets(by, values)) {
      if (wanted && !wanted.has(facet)) continue
      const statement = `select at, id from entries where ${by} and facet = ? and ${older} ${order} limit ?`
      found.push(...(this.#all(statement, [...values, facet, ...position, limit]) as { at: number; id: number }[]))
    }
    return found
      .sort(newestFirst)
      .slice(0, limit)
      .flatMap(({ at, id }) =>
        this.#all('select * from entries where site_id = ? and at = ? and id = ?', [siteId, at, id]),
      )
      .map((row) => record(row as unknown as Row))
  }

  count({ siteId, sinceMs, facets, most }: LogCount): number {
    let count = 0
    for (const facet of facets) {
      const some = 'select 1 from entries where site_id = ? and facet = ? and at >= ? limit ?'
      const values = [siteId, facet, sinceMs, most - count]
      const [row] = this.#all(`select count(*) as count from (${some})`, values)
      count += (row as { count: number }).count
    }
    return count
  }

  /** Yields the existing facets, ascending, with one index lookup each. */
  *#facets(by: string, values: (number | string)[]): Generator<number> {
    let last = Number.MIN_SAFE_INTEGER
    for (;;) {
      const [row] = this.#all(`select min(facet) as facet from entries where ${by} and facet > ?`, [...values, last])
      const { facet } = row as { facet: number | null }
      if (facet === null) return
      yield facet
      last = facet
    }
  }

  #all(text: string, values: (number | string)[]): object[] {
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = this.#database.prepare(text)
      this.#statements.set(text, statement)
    }
    return statement.all(...values)
  }

  close(): void {
    this.#database.close()
  }
}

const older = 'at >= ? and (at, id) < (?, ?)'
const order = 'order by at desc, id desc'
