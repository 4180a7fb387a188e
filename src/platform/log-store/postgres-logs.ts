import type pg from 'pg'
import { openPool } from '../db/postgres-pool.ts'
import { DAY_MS } from '../durations.ts'
import { AHEAD_MS, dayName, dayOf, daysOf, daysSince } from './days.ts'
import {
  KEYED,
  LOG_KINDS,
  type LogCount,
  type LogKind,
  type LogQuery,
  type LogRecord,
  type LogStore,
  noticeOf,
  RETENTION_DAYS,
} from './log-store.ts'
import { admitted, type LogLimits, ROW_BYTES, SUMS_MS } from './shares.ts'

/** How many days ahead partitions are created. */
const DAYS_AHEAD = 2
/** An arbitrary number, the same in every process. One process at a time creates and drops partitions. */
const MAINTENANCE_LOCK = 7241987

const NO_PARTITION = '23514'
const UNDEFINED_TABLE = '42P01'

const tableOf = (kind: LogKind): string => `log_${kind}`
const partitionOf = (kind: LogKind, day: number): string => `log_${kind}_${dayName(day).replaceAll('-', '')}`

/**
 * Stores log entries in tables that are partitioned by day.
 * @param mayReadBack whether the login may read the text of entries
 */
export function openPostgresLogs(url: string, limits: LogLimits, mayReadBack: boolean): LogStore {
  const sums: Sums = new Map()
  const pool = openPool({ connectionString: url, max: 4, application_name: 'stead logs' })
  return {
    append: (kind, records) => append({ pool, kind, limits, sums, mayReadBack }, records),
    page: (query) => page(pool, query),
    count: (query) => count(pool, query),
    maintain: (nowMs) => maintain(pool, limits, nowMs),
    close: () => pool.end(),
  }
}

/** The size of each day and kind, as of some seconds ago. */
type Sums = Map<string, { readonly readAtMs: number; readonly bytes: number; readonly sites: number }>

interface Appending {
  readonly pool: pg.Pool
  readonly kind: LogKind
  readonly limits: LogLimits
  readonly sums: Sums
  readonly mayReadBack: boolean
}

async function append(to: Appending, records: readonly LogRecord[]): Promise<void> {
  const nowMs = Date.now()
  const first = dayOf(nowMs) - RETENTION_DAYS
  const last = dayOf(nowMs + AHEAD_MS)
  const kept = records.filter(({ atMs }) => dayOf(atMs) >= first && dayOf(atMs) <= last)
  if (kept.length === 0) return
  try {
    await appendDays(to, kept)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== NO_PARTITION && code !== UNDEFINED_TABLE) throw error
    await makePartitions(to.pool, new Set([...days(kept), ...daysFrom(nowMs)]))
    await appendDays(to, kept)
  }
}

async function appendDays(to: Appending, records: readonly LogRecord[]): Promise<void> {
  for (const [day, ofDay] of Map.groupBy(records, ({ atMs }) => dayOf(atMs))) await appendDay(to, day, ofDay)
}

/**
 * Stores entries of a day. The usage of sites is read before, without a lock, so simultaneous processes may each exceed
 * a share by one batch.
 */
async function appendDay(to: Appending, day: number, records: readonly LogRecord[]): Promise<void> {
  const { pool, kind, limits } = to
  const sites = Map.groupBy(records, ({ siteId }) => siteId)
  const { rows } = await pool.query<{ site_id: string; bytes: string }>({
    name: 'log shares',
    text: 'select site_id, bytes from log_shares where kind = $1 and day = $2 and site_id = any($3::bigint[])',
    values: [kind, day, [...sites.keys()]],
  })
  const has = new Map(rows.map((row) => [Number(row.site_id), Number(row.bytes)]))
  const sum = await sumOfDay(to, day)
  const kept: LogRecord[] = []
  const dropped: { siteId: number; atMs: number; count: number }[] = []
  for (const [siteId, ofSite] of sites) {
    const bytes = has.get(siteId) ?? 0
    const room = admitted(ofSite, { bytes, dayBytes: sum.bytes, sites: sum.sites }, limits)
    kept.push(...room)
    if (room.length < ofSite.length)
      dropped.push({ siteId, atMs: (ofSite[0] as LogRecord).atMs, count: ofSite.length - room.length })
  }
  if (kept.length > 0) await insert(to, day, kept)
  if (dropped.length > 0) await notice(pool, kind, day, dropped)
}

async function sumOfDay({ pool, kind, sums }: Appending, day: number): Promise<{ bytes: number; sites: number }> {
  const key = `${kind} ${day}`
  const known = sums.get(key)
  if (known && performance.now() - known.readAtMs < SUMS_MS) return known
  const { rows } = await pool.query<{ bytes: string; sites: string }>(
    'select coalesce(sum(bytes), 0) as bytes, count(*) as sites from log_shares where kind = $1 and day = $2',
    [kind, day],
  )
  const sum = { readAtMs: performance.now(), bytes: Number(rows[0]?.bytes), sites: Number(rows[0]?.sites) }
  if (sums.size > 4 * LOG_KINDS.length) sums.clear()
  sums.set(key, sum)
  return sum
}

const days = (records: readonly LogRecord[]): number[] => records.map(({ atMs }) => dayOf(atMs))
const daysFrom = (nowMs: number): number[] => Array.from({ length: DAYS_AHEAD + 1 }, (_, n) => dayOf(nowMs) + n)

/**
 * Inserts a whole batch in one statement, as columns. That is a fifth of the work of the same number of parameter rows.
 * Inserted bytes count for their site. The rows of shares are locked in the same order everywhere, so that two
 * processes never deadlock.
 */
async function insert(
  { pool, kind, mayReadBack }: Appending,
  day: number,
  records: readonly LogRecord[],
): Promise<void> {
  await pool.query({
    name: `append ${kind}`,
    text: `with ${mayReadBack ? countedRows(kind) : countedParameters(kind)}
      insert into log_shares as had (kind, day, site_id, bytes, dropped)
      select $7, $8, site_id, sum(bytes), 0 from added group by site_id order by site_id
      on conflict (kind, day, site_id) do update set bytes = had.bytes + excluded.bytes`,
    values: [...columnsOf(records), kind, day],
  })
}

const GIVEN = 'unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::text[])'
const BYTES = `octet_length(body) + octet_length(key) + ${ROW_BYTES} as bytes`
const insertFrom = (kind: LogKind, source: string): string =>
  `insert into ${tableOf(kind)} (site_id, at, id, facet, key, body) select * from ${source} on conflict do nothing`

const countedRows = (kind: LogKind): string => `added as (${insertFrom(kind, GIVEN)} returning site_id, ${BYTES})`

/** For logins that may write entries, but not read them. Takes a third longer for 500 entries. */
const countedParameters = (kind: LogKind): string => `
  given as materialized (select * from ${GIVEN} as entries (site_id, at, id, facet, key, body)),
  inserted as (${insertFrom(kind, 'given')} returning site_id, at, id),
  added as (select site_id, ${BYTES} from inserted join given using (site_id, at, id))`

const columnsOf = (records: readonly LogRecord[]) => [
  records.map(({ siteId }) => siteId),
  records.map(({ atMs }) => atMs),
  records.map(({ id }) => id),
  records.map(({ facet }) => facet),
  records.map(({ key }) => key),
  records.map(({ body }) => body),
]

async function notice(
  pool: pg.Pool,
  kind: LogKind,
  day: number,
  dropped: readonly { siteId: number; atMs: number; count: number }[],
): Promise<void> {
  const { rows } = await pool.query<{ site_id: string; dropped: string; noticed_at: string }>(
    `insert into log_shares as had (kind, day, site_id, bytes, dropped, noticed_at)
      select $1, $2, site_id, 0, count, at from unnest($3::bigint[], $4::bigint[], $5::bigint[]) as new(site_id, count, at)
      order by site_id
      on conflict (kind, day, site_id) do update set dropped = had.dropped + excluded.dropped,
        noticed_at = coalesce(had.noticed_at, excluded.noticed_at)
      returning site_id, dropped, noticed_at`,
    [
      kind,
      day,
      dropped.map((each) => each.siteId),
      dropped.map((each) => each.count),
      dropped.map((each) => each.atMs),
    ],
  )
  const notices = rows.map((row) => noticeOf(Number(row.site_id), Number(row.noticed_at), Number(row.dropped)))
  await pool.query(
    `insert into ${tableOf(kind)} (site_id, at, id, facet, key, body)
      select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::text[])
      on conflict (site_id, at, id) do update set body = excluded.body`,
    columnsOf(notices),
  )
}

async function page(pool: pg.Pool, query: LogQuery): Promise<LogRecord[]> {
  const found: LogRecord[] = []
  for (const day of daysOf(query, RETENTION_DAYS)) {
    if (found.length >= query.limit) break
    found.push(...(await dayPage(pool, partitionOf(query.kind, day), { ...query, limit: query.limit - found.length })))
  }
  return found
}

async function count(pool: pg.Pool, { kind, siteId, sinceMs, facets, most }: LogCount): Promise<number> {
  let found = 0
  for (const day of daysSince(sinceMs, RETENTION_DAYS)) {
    if (found >= most) break
    const some = `select from ${partitionOf(kind, day)}
      where site_id = $1 and facet = any($2::int[]) and at >= $3 limit $4`
    const [row] = await rowsOfDay<{ count: string }>(pool, `select count(*) as count from (${some}) found`, [
      ...[siteId, facets, sinceMs, most - found],
    ])
    found += Number(row?.count ?? 0)
  }
  return found
}

type Row = { site_id: string; at: string; id: string; facet: number; key: string; body: string }

async function dayPage(pool: pg.Pool, partition: string, query: LogQuery): Promise<LogRecord[]> {
  const { siteId, before, sinceMs, facets, key, limit } = query
  const position = [siteId, sinceMs, before.atMs, before.id, limit]
  const [text, values] =
    !facets && key === undefined
      ? [plainPage(partition), position]
      : [facetPage(partition, key !== undefined), [...position, facets ?? null, ...(key === undefined ? [] : [key])]]
  return (await rowsOfDay<Row>(pool, text, values)).map((row) => ({
    siteId: Number(row.site_id),
    atMs: Number(row.at),
    id: Number(row.id),
    facet: row.facet,
    key: row.key,
    body: row.body,
  }))
}

/** Returns rows of a day, or none if the day has no table yet, or no longer has one. */
async function rowsOfDay<Found extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<Found[]> {
  try {
    return (await pool.query<Found>(text, values)).rows
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return []
    throw error
  }
}

const older = 'at >= $2 and (at, id) < ($3, $4)'
const order = 'order by at desc, id desc limit $5'

const plainPage = (partition: string): string => `select * from ${partition} where site_id = $1 and ${older} ${order}`

/**
 * Finds the existing facets with one index lookup each, then the newest rows of each, then the newest of these, and
 * reads them in full.
 */
function facetPage(partition: string, byKey: boolean): string {
  const by = byKey ? 'site_id = $1 and key = $7' : 'site_id = $1'
  return `with recursive present as (
      (select facet from ${partition} where ${by} order by facet limit 1)
      union all
      select (select facet from ${partition} where ${by} and facet > present.facet order by facet limit 1)
      from present where present.facet is not null),
    newest as (
      select found.at, found.id from present,
        lateral (select at, id from ${partition} where ${by} and facet = present.facet and ${older} ${order}) found
      where present.facet is not null and ($6::int[] is null or present.facet = any($6::int[])) ${order})
    select entries.* from newest join ${partition} entries on entries.site_id = $1 and entries.at = newest.at
      and entries.id = newest.id order by entries.at desc, entries.id desc`
}

async function maintain(pool: pg.Pool, limits: LogLimits, nowMs: number): Promise<void> {
  await makePartitions(pool, new Set(daysFrom(nowMs)))
  const { rows } = await pool.query<{ name: string; bytes: string }>(
    `select child.relname as name, pg_total_relation_size(child.oid) as bytes
      from pg_inherits join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent where parent.relname = any($1) order by right(child.relname, 8)`,
    [LOG_KINDS.map(tableOf)],
  )
  let bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0)
  for (const row of rows) {
    const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(row.name) ?? []
    const endMs = Date.parse(`${year}-${month}-${date}T00:00:00Z`) + DAY_MS
    // Drop the oldest days until the rest is within the total. The current day stays, because it has its own limits.
    const isTooMuch = bytes > limits.totalBytes && endMs <= nowMs
    if (endMs > nowMs - RETENTION_DAYS * DAY_MS && !isTooMuch) continue
    await pool.query(`drop table if exists ${row.name}`)
    bytes -= Number(row.bytes)
  }
  await pool.query('delete from log_shares where day < $1', [dayOf(nowMs) - RETENTION_DAYS])
}

/** Creates missing tables, and missing partitions for these days. */
async function makePartitions(pool: pg.Pool, wanted: ReadonlySet<number>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(${MAINTENANCE_LOCK})`)
    await client.query(`create table if not exists log_shares (kind text not null, day int not null, site_id bigint not null,
      bytes bigint not null, dropped bigint not null, noticed_at bigint, primary key (kind, day, site_id))`)
    for (const kind of LOG_KINDS) {
      const table = tableOf(kind)
      await client.query(`create table if not exists ${table} (site_id bigint not null, at bigint not null,
        id bigint not null, facet int not null, key text not null, body text not null,
        primary key (site_id, at, id)) partition by range (at)`)
      await client.query(`create index if not exists ${table}_facet on ${table} (site_id, facet, at, id)`)
      if (KEYED.has(kind))
        await client.query(`create index if not exists ${table}_key on ${table} (site_id, key, facet, at, id)`)
      for (const day of wanted)
        await client.query(`create table if not exists ${partitionOf(kind, day)} partition of ${table}
          for values from (${day * DAY_MS}) to (${(day + 1) * DAY_MS})`)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}
