import { createHmac, randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Connection } from 'mysql2/promise'
import { syncFolder, writeFileOnce } from '../../platform/files/write-file.ts'
import type { ServerLogin } from '../php/wp-config.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import { databaseNames, directoryOfName, inGrant, type SiteNames } from './database-names.ts'
import { loginFile, nextLoginFile } from './on-mariadb.ts'
import { type Login, named, rowsOf } from './server/connect.ts'
import { asAdministrator, type DatabaseServer } from './server/database-server.ts'
import { type RightsLevel, SITE_RIGHTS, setRights } from './site-rights.ts'
import { endConnections } from './watch/site-sessions.ts'

export interface SiteLimits {
  /** Concurrent connections. PHP has four processes, plus WP-CLI and scheduled events. */
  readonly connections: number
  /** Time limit of one statement. */
  readonly statementSeconds: number
}

export const usualLimits: SiteLimits = { connections: 8, statementSeconds: 300 }

const collation = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci'

/** Databases and accounts of sites on a server. */
export class SiteDatabases {
  readonly server: DatabaseServer
  readonly prefix: string
  readonly #limits: SiteLimits
  /** Accounts without full rights. */
  readonly #levels = new Map<string, RightsLevel>()
  /**
   * Derives the passwords of the accounts through which this process uses sites' databases. They are worthless after it
   * ends.
   */
  readonly #workerKey = randomBytes(32)

  /** @param prefix from `prefixOf` */
  constructor(server: DatabaseServer, prefix: string, limits = usualLimits) {
    this.server = server
    this.prefix = prefix
    this.#limits = limits
  }

  namesOf(directory: Pick<SitePlace, 'siteDirectory'>): SiteNames {
    return databaseNames(this.prefix, directory)
  }

  /** Returns the login of the site's own account. @throws when it has none */
  async loginOf(
    directory: Pick<SitePlace, 'siteDirectory'>,
    file = loginFile(directory.siteDirectory),
  ): Promise<ServerLogin> {
    const { current } = this.namesOf(directory)
    const { password } = JSON.parse(await readFile(file, 'utf8')) as { password: string }
    return { host: this.server.phpHost, database: current, user: current, password }
  }

  /**
   * Creates the site's database and its account unless they exist, and sets the account's password and limits.
   * @param file path of the password; another one when the site is not on this database yet
   */
  async create(
    directory: Pick<SitePlace, 'siteDirectory'>,
    file = loginFile(directory.siteDirectory),
  ): Promise<ServerLogin> {
    const { current } = this.namesOf(directory)
    // First, because everything created after it can be created again and is found by its name.
    await writeFileOnce(file, `${JSON.stringify({ password: randomBytes(24).toString('base64url') })}\n`, 0o600)
    const login = await this.loginOf(directory, file)
    const { password } = login
    await asAdministrator(this.server, async (connection) => {
      await connection.query(`CREATE DATABASE IF NOT EXISTS ${named(current)} ${collation}`)
      await this.#account(connection, { user: current, password }, this.#limits)
      await setRights(connection, this.#accountOf(current), this.levelOf(current))
    })
    return login
  }

  /** Drops everything that a site has on the server. Does nothing when it has nothing. */
  async drop(directory: Pick<SitePlace, 'siteDirectory'>): Promise<void> {
    const { current, next, previous, scratch, worker } = this.namesOf(directory)
    await asAdministrator(this.server, async (connection) => {
      // Its connections would stay open and hold locks.
      for (const user of [current, worker]) {
        await connection.query(`DROP USER IF EXISTS ${this.#at(user)}`)
        this.#levels.delete(user)
        await endConnections(connection, user)
      }
      for (const database of [next, previous, scratch, current])
        await connection.query(`DROP DATABASE IF EXISTS ${named(database)}`)
    })
    // Last, because while it exists, the site is known to have something on the server.
    for (const file of [loginFile(directory.siteDirectory), nextLoginFile(directory.siteDirectory)])
      await rm(file, { force: true })
    await syncFolder(dirname(loginFile(directory.siteDirectory))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }

  /**
   * Returns the login with which this process uses a site's databases. Input from a site, such as a dump or a column
   * definition, never runs as an account that could reach another site.
   */
  async worker(directory: Pick<SitePlace, 'siteDirectory'>): Promise<Login> {
    const { current, next, previous, scratch, worker } = this.namesOf(directory)
    const password = createHmac('sha256', this.#workerKey).update(worker).digest('base64url')
    await asAdministrator(this.server, async (connection) => {
      await this.#account(connection, { user: worker, password }, { connections: 0, statementSeconds: 0 })
      for (const database of [current, next, previous, scratch])
        await connection.query(`GRANT ${SITE_RIGHTS} ON ${inGrant(database)}.* TO ${this.#at(worker)}`)
    })
    return { user: worker, password }
  }

  /**
   * Drops leftovers of dry runs by a host that died.
   * @param isHere whether the site directory with this number is on this host, because another host of the same server
   *   may be in a dry run
   */
  async dropScratch(isHere: (directory: number) => boolean): Promise<void> {
    await asAdministrator(this.server, async (connection) => {
      const schemas = await rowsOf(
        connection,
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE '%\\_scratch'",
      )
      for (const [name = ''] of schemas) {
        const directory = directoryOfName(this.prefix, name.replace(/_scratch$/, ''))
        if (directory !== undefined && isHere(directory))
          await connection.query(`DROP DATABASE IF EXISTS ${named(name)}`)
      }
    })
  }

  /** Returns the rights of a site's account. */
  levelOf(user: string): RightsLevel {
    return this.#levels.get(user) ?? 'all'
  }

  /** Accounts without full rights. */
  get reduced(): string[] {
    return [...this.#levels.keys()]
  }

  /** Adopts the rights that the server reports, because an earlier process may have revoked some. */
  knowLevels(levels: ReadonlyMap<string, RightsLevel>): void {
    for (const [user, level] of levels) this.#levels.set(user, level)
  }

  /**
   * Sets the rights of a site's account, also for when it is created again. Ends its connections, which would keep
   * their earlier rights.
   */
  async setLevel(connection: Connection, user: string, level: RightsLevel): Promise<void> {
    const before = this.levelOf(user)
    this.#keepLevel(user, level)
    try {
      await setRights(connection, this.#accountOf(user), level)
      if (level !== 'all') await endConnections(connection, user)
    } catch (error) {
      // The next check retries.
      this.#keepLevel(user, before)
      throw error
    }
  }

  #keepLevel(user: string, level: RightsLevel): void {
    if (level === 'all') this.#levels.delete(user)
    else this.#levels.set(user, level)
  }

  /** Locks the site out of its database until {@link letIn}, even if this process dies. */
  async keepOut(connection: Connection, directory: Pick<SitePlace, 'siteDirectory'>): Promise<void> {
    const { current } = this.namesOf(directory)
    await connection.query(`ALTER USER IF EXISTS ${this.#at(current)} ACCOUNT LOCK`)
    await endConnections(connection, current)
  }

  async letIn(connection: Connection, directory: Pick<SitePlace, 'siteDirectory'>): Promise<void> {
    await connection.query(`ALTER USER IF EXISTS ${this.#at(this.namesOf(directory).current)} ACCOUNT UNLOCK`)
  }

  async #account(connection: Connection, { user, password }: Login, limits: SiteLimits): Promise<void> {
    const at = this.#at(user)
    const bounds = `WITH MAX_USER_CONNECTIONS ${limits.connections} MAX_STATEMENT_TIME ${limits.statementSeconds}`
    await connection.query(`CREATE USER IF NOT EXISTS ${at} IDENTIFIED BY '${password}' ${bounds}`)
    await connection.query(`ALTER USER ${at} IDENTIFIED BY '${password}' ${bounds}`)
  }

  #accountOf(user: string) {
    return { database: user, user, host: this.server.accountHost }
  }

  readonly #at = (user: string): string => `'${user}'@'${this.server.accountHost}'`
}
