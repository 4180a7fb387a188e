import type { Connection } from 'mysql2/promise'
import { directoryOfName } from '../database-names.ts'
import { rowsOf } from '../server/connect.ts'

/** A connection of a site's account. */
export interface SiteSession {
  readonly id: number
  readonly user: string
  /** Number of the site directory. */
  readonly directory: number
  /** Whether it is waiting for a statement. */
  readonly isIdle: boolean
  /** How long its statement has been running, or how long it has been idle. */
  readonly seconds: number
  /** Memory that the server holds for it alone. */
  readonly bytes: number
}

const NO_SUCH_THREAD = 1094

/** Returns all connections of sites, without those of the host's own accounts. */
export async function siteSessions(connection: Connection, prefix: string): Promise<SiteSession[]> {
  const rows = await rowsOf(
    connection,
    'SELECT ID, USER, COMMAND, TIME, MEMORY_USED FROM information_schema.PROCESSLIST',
  )
  return rows.flatMap(([id, user = '', command, seconds, bytes]) => {
    const directory = directoryOfName(prefix, user)
    if (directory === undefined) return []
    return [
      {
        id: Number(id),
        user,
        directory,
        isIdle: command === 'Sleep',
        seconds: Number(seconds),
        bytes: Number(bytes),
      },
    ]
  })
}

/** Returns the IDs of connections whose statement may change rows, including those of temporary tables. */
export async function changingSessions(connection: Connection): Promise<Set<number>> {
  const rows = await rowsOf(
    connection,
    'SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_autocommit_non_locking = 0',
  )
  return new Set(rows.map(([id]) => Number(id)))
}

/** Ends a connection, if it still exists. */
export async function endConnection(connection: Connection, id: number): Promise<void> {
  await connection.query(`KILL HARD CONNECTION ${id}`).catch((error: { errno?: number }) => {
    if (error.errno !== NO_SUCH_THREAD) throw error
  })
}

/** Ends all connections of an account. */
export async function endConnections(connection: Connection, user: string): Promise<void> {
  await connection.query(`KILL HARD USER '${user}'`)
}
