import type { Connection } from 'mysql2/promise'
import type { Log } from '../../../platform/log/log.ts'
import { Repeat } from '../content/repeat.ts'
import { directoryOfName } from '../names.ts'
import { rowsOf } from '../server/connect.ts'
import { asAdministrator, type DatabaseServer } from '../server/database-server.ts'
import { type SiteLimits, usualLimits } from '../site-databases.ts'
import { endSession, siteSessions } from './sessions.ts'

/** A statement may be over its time by as much. */
const LOOKS_EVERY_MS = 10_000
/** A connection that says nothing keeps what it has read from being cleared away. */
const MOST_IDLE_SECONDS = 600

export interface SiteWatchOptions {
  readonly server: DatabaseServer
  readonly prefix: string
  readonly limits?: SiteLimits
  readonly log: Pick<Log, 'warn'>
  readonly everyMs?: number
}

/** What is known of a server of MariaDB. */
export interface ServerMetrics {
  readonly isUp: boolean
  readonly restarts: number
  /** Databases of sites. */
  readonly databases: number
  readonly connections: number
  /** Statements of sites that took longer than a second, and those that were ended because they took too long. */
  readonly slow: number
  readonly ended: number
}

/** Keeps sites to what a server lets them change for themselves: a session may put its own time limit away. Counts what is slow. */
export class SiteWatch {
  readonly #options: SiteWatchOptions
  readonly #slow = new Map<number, number>()
  #counts = { databases: 0, connections: 0, slow: 0, ended: 0 }
  readonly #repeat: Repeat

  constructor(options: SiteWatchOptions) {
    this.#options = options
    const { everyMs = LOOKS_EVERY_MS, log, server } = options
    const failed = (error: Error) => {
      // that it has ended is told by who starts it again
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

  /** Resolves when nothing is being looked at. */
  stop(): Promise<void> {
    return this.#repeat.stop()
  }

  metrics(): ServerMetrics {
    const { isUp, restarts } = this.#options.server
    return { isUp, restarts, ...this.#counts }
  }

  /** How many slow statements of a site directory's site were seen since this process started. */
  slowOf(directory: number): number {
    return this.#slow.get(directory) ?? 0
  }

  async look(): Promise<void> {
    await asAdministrator(this.#options.server, async (connection) => {
      await this.#endLong(connection)
      const databases = await rowsOf(connection, 'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA')
      this.#counts.databases = databases.filter(([name]) => this.#directoryOf(name as string) !== undefined).length
      // where an operator runs it, the log of slow statements is the operator's
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
      // its session is not one that keeps to limits
      await endSession(connection, id)
      if (isIdle) continue
      this.#counts.ended++
      this.#options.log.warn({ directory, seconds }, 'stopped a statement of a site that took too long')
    }
  }

  /** Takes the table of slow statements away whole, so that none is counted twice or lost, and the table never grows. */
  async #countSlow(connection: Connection): Promise<void> {
    // a table of the log's kind, which tables are not by default
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
