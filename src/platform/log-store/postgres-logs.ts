import type pg from 'pg'
import { openPool } from '../db/pool.ts'
import { AHEAD_MS, DAY_MS, dayName, dayOf, daysOf } from './days.ts'
import {
  KEYED,
  KINDS,
  type LogKind,
  type LogQuery,
  type LogRecord,
  type LogStore,
  RETENTION_DAYS,
} from './log-store.ts'

/** Partitions that exist before their day begins. */
const DAYS_AHEAD = 2
/** Any number, the same in every process: one of them makes and drops partitions at a time. */
const MAINTENANCE_LOCK = 7241987

const NO_PARTITION = '23514'
const UNDEFINED_TABLE = '42P01'

const tableOf = (kind: LogKind): string => `log_${kind}`
const partitionOf = (kind: LogKind, day: number): string => `log_${kind}_${dayName(day).replaceAll('-', '')}`

/** Log entries in tables that are partitioned by day. */
export function openPostgresLogs(url: string): LogStore {
  const pool = openPool({ connectionString: url, max: 4, application_name: 'stead logs' })
  return {
    append: (kind, records) => append(pool, kind, records),
    page: (query) => page(pool, query),
    maintain: (nowMs) => maintain(pool, nowMs),
    close: () => pool.end(),
  }
}

async function append(pool: pg.Pool, kind: LogKind, records: readonly LogRecord[]): Promise<void> {
  const nowMs = Date.now()
  const first = dayOf(nowMs) - RETENTION_DAYS
  const last = dayOf(nowMs + AHEAD_MS)
  const kept = records.filter(({ atMs }) => dayOf(atMs) >= first && dayOf(atMs) <= last)
  if (kept.length === 0) return
  try {
    await insert(pool, kind, kept)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== NO_PARTITION && code !== UNDEFINED_TABLE) throw error
    await makePartitions(pool, new Set([...days(kept), ...daysFrom(nowMs)]))
    await insert(pool, kind, kept)
  }
}

const days = (records: readonly LogRecord[]): number[] => records.map(({ atMs }) => dayOf(atMs))
const daysFrom = (nowMs: number): number[] => Array.from({ length: DAYS_AHEAD + 1 }, (_, n) => dayOf(nowMs) + n)

/** One statement for a whole batch, as columns: a fifth of the work of as many rows of parameters. */
async function insert(pool: pg.Pool, kind: LogKind, records: readonly LogRecord[]): Promise<void> {
  await pool.query({
    name: `append ${kind}`,
    text: `insert into ${tableOf(kind)} (site_id, at, id, facet, key, body)
      select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::text[])
      on conflict do nothing`,
    values: [
      records.map(({ siteId }) => siteId),
      records.map(({ atMs }) => atMs),
      records.map(({ id }) => id),
      records.map(({ facet }) => facet),
      records.map(({ key }) => key),
      records.map(({ body }) => body),
    ],
  })
}

async function page(pool: pg.Pool, query: LogQuery): Promise<LogRecord[]> {
  const found: LogRecord[] = []
  for (const day of daysOf(query, RETENTION_DAYS)) {
    if (found.length >= query.limit) break
    found.push(...(await dayPage(pool, partitionOf(query.kind, day), { ...query, limit: query.limit - found.length })))
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
  try {
    const { rows } = await pool.query<Row>(text, values)
    return rows.map((row) => ({
      siteId: Number(row.site_id),
      atMs: Number(row.at),
      id: Number(row.id),
      facet: row.facet,
      key: row.key,
      body: row.body,
    }))
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return []
    throw error
  }
}

const older = 'at >= $2 and (at, id) < ($3, $4)'
const order = 'order by at desc, id desc limit $5'

const plainPage = (partition: string): string => `select * from ${partition} where site_id = $1 and ${older} ${order}`

/** The facets that occur, one step down the index for each; the newest of each; of these the newest; and these in full. */
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

async function maintain(pool: pg.Pool, nowMs: number): Promise<void> {
  await makePartitions(pool, new Set(daysFrom(nowMs)))
  const { rows } = await pool.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent where parent.relname = any($1)`,
    [KINDS.map(tableOf)],
  )
  for (const { name } of rows) {
    const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
    const endMs = Date.parse(`${year}-${month}-${date}T00:00:00Z`) + DAY_MS
    if (endMs <= nowMs - RETENTION_DAYS * DAY_MS) await pool.query(`drop table if exists ${name}`)
  }
}

/** Tables, and partitions for these days, where they are missing. */
async function makePartitions(pool: pg.Pool, wanted: ReadonlySet<number>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(${MAINTENANCE_LOCK})`)
    for (const kind of KINDS) {
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
