import type { Connection } from 'mysql2/promise'
import type { Log } from '../../../platform/log/log.ts'
import { Repeat } from '../content/repeat.ts'
import { directoryOfName } from '../database-names.ts'
import { rowsOf } from '../server/connect.ts'
import { asAdministrator, type DatabaseServer } from '../server/database-server.ts'
import { type SiteLimits, usualLimits } from '../site-databases.ts'
import { endConnection, siteSessions } from './site-sessions.ts'

/** A statement may exceed its time limit by this much. */
const LOOKS_EVERY_MS = 10_000
/** An idle connection with an open transaction keeps the server from purging old row versions. */
const MOST_IDLE_SECONDS = 600

export interface SessionWatchOptions {
  readonly server: DatabaseServer
  readonly prefix: string
  readonly limits?: SiteLimits
  readonly log: Pick<Log, 'warn'>
  readonly everyMs?: number
}

/** Metrics of a MariaDB server. */
export interface ServerMetrics {
  readonly isUp: boolean
  readonly restarts: number
  /** Number of databases of sites. */
  readonly databases: number
  readonly connections: number
  /** Statements of sites that took longer than a second, and those that were ended for taking too long. */
  readonly slow: number
  readonly ended: number
}

/** Enforces limits that a site's session could lift, such as its time limit. Counts slow statements. */
export class SessionWatch {
  readonly #options: SessionWatchOptions
  readonly #slow = new Map<number, number>()
  #counts = { databases: 0, connections: 0, slow: 0, ended: 0 }
  readonly #repeat: Repeat

  constructor(options: SessionWatchOptions) {
    this.#options = options
    const { everyMs = LOOKS_EVERY_MS, log, server } = options
    const failed = (error: Error) => {
      // The supervisor of the server reports that it has ended.
      if (server.isUp) log.warn({ err: error }, 'could not check MariaDB')
    }
    this.#repeat = new Repeat(
      () => this.look().catch(failed),
      () => everyMs,
    )
  }

  start(): void {
    this.#repeat.start()
  }

  /** Resolves when no check is running. */
  stop(): Promise<void> {
    return this.#repeat.stop()
  }

  metrics(): ServerMetrics {
    const { isUp, restarts } = this.#options.server
    return { isUp, restarts, ...this.#counts }
  }

  /** Returns how many slow statements of a site directory's site were counted since this process started. */
  slowOf(directory: number): number {
    return this.#slow.get(directory) ?? 0
  }

  async look(): Promise<void> {
    await asAdministrator(this.#options.server, async (connection) => {
      await this.#endLong(connection)
      const databases = await rowsOf(connection, 'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA')
      this.#counts.databases = databases.filter(([name]) => this.#directoryOf(name as string) !== undefined).length
      // On an operator's server, the log of slow statements is the operator's.
      if (this.#options.server.dataFolder) await this.#countSlow(connection)
    })
  }

  #directoryOf(name: string): number | undefined {
    return directoryOfName(this.#options.prefix, name)
  }

  async #endLong(connection: Connection): Promise<void> {
    const { statementSeconds } = this.#options.limits ?? usualLimits
    const sessions = await siteSessions(connection, this.#options.prefix)
    this.#counts.connections = sessions.length
    for (const { id, directory, isIdle, seconds } of sessions) {
      if (seconds <= (isIdle ? MOST_IDLE_SECONDS : statementSeconds)) continue
      // Its session has lifted its limits.
      await endConnection(connection, id)
      if (isIdle) continue
      this.#counts.ended++
      this.#options.log.warn({ directory, seconds }, 'stopped a statement of a site that took too long')
    }
  }

  /**
   * Replaces the table of slow statements as a whole, so that none is counted twice or lost, and the table stays small.
   */
  async #countSlow(connection: Connection): Promise<void> {
    // The log table has another engine, which ordinary tables may not use.
    await connection.query('SET SESSION enforce_storage_engine = NULL')
    await connection.query('DROP TABLE IF EXISTS mysql.slow_log_next, mysql.slow_log_read')
    await connection.query('CREATE TABLE mysql.slow_log_next LIKE mysql.slow_log')
    await connection.query('RENAME TABLE mysql.slow_log TO mysql.slow_log_read, mysql.slow_log_next TO mysql.slow_log')
    const rows = await rowsOf(connection, 'SELECT user_host, COUNT(*) FROM mysql.slow_log_read GROUP BY user_host')
    await connection.query('DROP TABLE mysql.slow_log_read')
    for (const [user, count] of rows) {
      const directory = this.#directoryOf((user as string).split('[')[0] as string)
      if (directory === undefined) continue
      this.#slow.set(directory, this.slowOf(directory) + Number(count))
      this.#counts.slow += Number(count)
    }
  }
}
