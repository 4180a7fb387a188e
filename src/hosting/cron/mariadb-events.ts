import type { Connection } from 'mysql2/promise'
import { MINUTE_MS } from '../../platform/durations.ts'
import { isOnMariaDb } from '../mariadb/on-mariadb.ts'
import { named } from '../mariadb/server/connect.ts'
import type { SiteDatabases } from '../mariadb/site-databases.ts'
import { cronEvents } from './cron-option.ts'
import { type EventSource, type Look, UnreadableDatabase } from './event-source.ts'
import { nextEvents } from './next-events.ts'
import { MOST_BLOGS, MOST_OPTION_BYTES, tablePrefix } from './wordpress-options.ts'

/** How often to check a database that only the host can have changed. Each check costs a connection. */
const SELDOM_MS = 600_000
/** The site may have locked its table. */
const PATIENCE_SECONDS = 5
const PATIENCE = `max_statement_time=${PATIENCE_SECONDS}, lock_wait_timeout=${PATIENCE_SECONDS}`

export interface MariaDbEventsOptions {
  /** Undefined when this host has no server. */
  readonly databases: SiteDatabases | undefined
  /** Whether the site's PHP is running. Nothing else changes events. */
  readonly runs: (siteDirectory: string) => boolean
  readonly clock?: () => number
}

/**
 * Creates the source for sites whose database is on MariaDB. It connects as an account without access to other sites.
 */
export function mariaDbEvents({ databases, runs, clock = Date.now }: MariaDbEventsOptions): EventSource {
  return {
    mark(siteDirectory) {
      const everyMs = runs(siteDirectory) ? MINUTE_MS : SELDOM_MS
      return `${everyMs} ${Math.floor(clock() / everyMs)}`
    },
    async read(siteDirectory) {
      if (!databases) return { kind: 'unknown', reason: 'this host has no MariaDB' }
      try {
        return await read(databases, siteDirectory)
      } catch (error) {
        return { kind: 'unknown', reason: (error as Error).message }
      }
    },
  }
}

/** Chooses the source by the kind of a site directory's database. */
export const eventsByDatabase = (sqlite: EventSource, mariaDb: EventSource): EventSource => ({
  mark: (siteDirectory) => (isOnMariaDb(siteDirectory) ? mariaDb : sqlite).mark(siteDirectory),
  read: (siteDirectory) => (isOnMariaDb(siteDirectory) ? mariaDb : sqlite).read(siteDirectory),
})

async function read(databases: SiteDatabases, siteDirectory: string): Promise<Look> {
  const prefix = await tablePrefix(siteDirectory)
  const { current } = databases.namesOf({ siteDirectory })
  const connection = await databases.server.connect(await databases.worker({ siteDirectory }))
  try {
    const table = (name: string) => `${named(current)}.${named(`${prefix}${name}`)}`
    const found = [await optionOf(connection, table('options'))]
    for (const id of await openBlogs(connection, current, prefix))
      found.push(await optionOf(connection, table(`${id}_options`)))
    const events = found.flatMap((serialized) => (serialized ? [...cronEvents(serialized)] : []))
    return { kind: 'read', next: nextEvents(events), settled: true }
  } finally {
    connection.destroy()
  }
}

/** Returns the open sites of a network that have options of their own, oldest first. Empty without a network. */
async function openBlogs(connection: Connection, database: string, prefix: string): Promise<number[]> {
  const table = (name: string) => `${named(database)}.${named(name)}`
  const [tables] = await connection.query(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name REGEXP ?`,
    [database, `^${prefix}([0-9]{1,9}_options|blogs)$`],
  )
  const names = new Set((tables as unknown[][]).map(([name]) => String(name)))
  if (!names.has(`${prefix}blogs`)) return []
  const [rows] = await connection.query(
    `SET STATEMENT ${PATIENCE} FOR SELECT blog_id FROM ${table(`${prefix}blogs`)}
      WHERE archived = 0 AND deleted = 0 AND spam = 0 ORDER BY blog_id LIMIT ${MOST_BLOGS}`,
  )
  return (rows as unknown[][]).map(([id]) => Number(id)).filter((id) => names.has(`${prefix}${id}_options`))
}

/** @returns undefined when WordPress has not scheduled anything yet */
async function optionOf(connection: Connection, table: string): Promise<Buffer | undefined> {
  const [rows] = await connection.query(
    `SET STATEMENT ${PATIENCE} FOR SELECT LEFT(option_value, ${MOST_OPTION_BYTES + 1}) FROM ${table} WHERE option_name = 'cron' LIMIT 1`,
  )
  const value = (rows as (Buffer | null)[][])[0]?.[0]
  if (value && value.length > MOST_OPTION_BYTES) throw new UnreadableDatabase('its option cron is of unusual length')
  return value ?? undefined
}
