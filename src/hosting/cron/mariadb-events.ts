import type { Connection } from 'mysql2/promise'
import { named } from '../mariadb/connect.ts'
import { isOnMariaDb } from '../mariadb/on-mariadb.ts'
import type { SiteDatabases } from '../mariadb/site-databases.ts'
import { cronEvents } from './cron-option.ts'
import { type EventSource, type Look, UnreadableDatabase } from './event-source.ts'
import { nextEvents } from './next-events.ts'
import { MOST_OPTION_BYTES, tablePrefix } from './wordpress-options.ts'

const MINUTE_MS = 60_000
/** What nobody but the host can have changed is looked at so often: a new look costs a connection. */
const SELDOM_MS = 600_000
/** The site may hold its table. */
const PATIENCE_SECONDS = 5

export interface MariaDbEventsOptions {
  /** undefined: this host has no server. */
  readonly databases: SiteDatabases | undefined
  /** Whether PHP of the home's site runs, which alone changes events. */
  readonly runs: (homePath: string) => boolean
  readonly clock?: () => number
}

/** The events of sites whose database is on MariaDB, read as an account that has no other site's. */
export function mariaDbEvents({ databases, runs, clock = Date.now }: MariaDbEventsOptions): EventSource {
  return {
    mark(homePath) {
      const everyMs = runs(homePath) ? MINUTE_MS : SELDOM_MS
      return `${everyMs} ${Math.floor(clock() / everyMs)}`
    },
    async read(homePath) {
      if (!databases) return { kind: 'unknown', reason: 'this host has no MariaDB' }
      try {
        return await read(databases, homePath)
      } catch (error) {
        return { kind: 'unknown', reason: (error as Error).message }
      }
    },
  }
}

/** Events by the kind of a home's database. */
export const eventsByHome = (sqlite: EventSource, mariaDb: EventSource): EventSource => ({
  mark: (homePath) => (isOnMariaDb(homePath) ? mariaDb : sqlite).mark(homePath),
  read: (homePath) => (isOnMariaDb(homePath) ? mariaDb : sqlite).read(homePath),
})

async function read(databases: SiteDatabases, homePath: string): Promise<Look> {
  const table = `${await tablePrefix(homePath)}options`
  const { current } = databases.namesOf({ homePath })
  const connection = await databases.server.connect(await databases.worker({ homePath }))
  try {
    const serialized = await optionOf(connection, `${named(current)}.${named(table)}`)
    return { kind: 'read', next: nextEvents(serialized ? cronEvents(serialized) : []), settled: true }
  } finally {
    connection.destroy()
  }
}

/** @returns undefined when WordPress has not scheduled anything yet */
async function optionOf(connection: Connection, table: string): Promise<Buffer | undefined> {
  const patience = `max_statement_time=${PATIENCE_SECONDS}, lock_wait_timeout=${PATIENCE_SECONDS}`
  const [rows] = await connection.query(
    `SET STATEMENT ${patience} FOR SELECT LEFT(option_value, ${MOST_OPTION_BYTES + 1}) FROM ${table} WHERE option_name = 'cron' LIMIT 1`,
  )
  const value = (rows as (Buffer | null)[][])[0]?.[0]
  if (value && value.length > MOST_OPTION_BYTES) throw new UnreadableDatabase('its option cron is of unusual length')
  return value ?? undefined
}
