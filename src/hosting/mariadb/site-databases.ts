import { createHmac, randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Connection } from 'mysql2/promise'
import { syncFolder, writeFileOnce } from '../../platform/files/write-file.ts'
import type { ServerLogin } from '../php/wp-config.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import { directoryOfName, inGrant, namesOf, type SiteNames } from './names.ts'
import { loginFile, nextLoginFile } from './on-mariadb.ts'
import { type Login, named, rowsOf } from './server/connect.ts'
import { asAdministrator, type DatabaseServer } from './server/database-server.ts'
import { type RightsLevel, SITE_RIGHTS, setRights } from './site-rights.ts'
import { endSessions } from './watch/sessions.ts'

export interface SiteLimits {
  /** At once. PHP has four processes; WP-CLI and scheduled events come on top. */
  readonly connections: number
  /** Of one statement. */
  readonly statementSeconds: number
}

export const usualLimits: SiteLimits = { connections: 8, statementSeconds: 300 }

const collation = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci'

/** Databases and accounts of sites on a server. */
export class SiteDatabases {
  readonly server: DatabaseServer
  readonly prefix: string
  readonly #limits: SiteLimits
  /** Accounts that do not have all rights. */
  readonly #levels = new Map<string, RightsLevel>()
  /** Passwords of the accounts with which this process works on a site's databases: they are worth nothing after it. */
  readonly #workerKey = randomBytes(32)

  /** @param prefix of `prefixOf` */
  constructor(server: DatabaseServer, prefix: string, limits = usualLimits) {
    this.server = server
    this.prefix = prefix
    this.#limits = limits
  }

  namesOf(directory: Pick<SitePlace, 'siteDirectory'>): SiteNames {
    return namesOf(this.prefix, directory)
  }

  /** What the site's own account logs in with. @throws when it has none */
  async loginOf(
    directory: Pick<SitePlace, 'siteDirectory'>,
    file = loginFile(directory.siteDirectory),
  ): Promise<ServerLogin> {
    const { current } = this.namesOf(directory)
    const { password } = JSON.parse(await readFile(file, 'utf8')) as { password: string }
    return { host: this.server.phpHost, database: current, user: current, password }
  }

  /**
   * Makes the site's database and its account, unless they are there; an account gets the password and the limits that it is to have.
   * @param file where the password is kept; another one: the site is not on this database yet
   */
  async create(
    directory: Pick<SitePlace, 'siteDirectory'>,
    file = loginFile(directory.siteDirectory),
  ): Promise<ServerLogin> {
    const { current } = this.namesOf(directory)
    // first: whatever is made after it can be made again, and is found by the name
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

  /** Drops all that a site has on the server. May be called for one that has nothing. */
  async drop(directory: Pick<SitePlace, 'siteDirectory'>): Promise<void> {
    const { current, next, previous, scratch, worker } = this.namesOf(directory)
    await asAdministrator(this.server, async (connection) => {
      // its connections would live on, and hold locks
      for (const user of [current, worker]) {
        await connection.query(`DROP USER IF EXISTS ${this.#at(user)}`)
        this.#levels.delete(user)
        await endSessions(connection, user)
      }
      for (const database of [next, previous, scratch, current])
        await connection.query(`DROP DATABASE IF EXISTS ${named(database)}`)
    })
    // last: while it is there, the site is known to have something on the server
    for (const file of [loginFile(directory.siteDirectory), nextLoginFile(directory.siteDirectory)])
      await rm(file, { force: true })
    await syncFolder(dirname(loginFile(directory.siteDirectory))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }

  /**
   * How this process works on a site's databases. What comes from a site, a dump or a definition of a column, is never run as somebody who could reach
   * another site's.
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
   * Drops what a host that died has left of dumps that were being tried.
   * @param isHere whether a site directory of this number is this host's: another one of the same server may be trying a dump
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

  /** What a site's account may do. */
  levelOf(user: string): RightsLevel {
    return this.#levels.get(user) ?? 'all'
  }

  /** Accounts that lack rights. */
  get reduced(): string[] {
    return [...this.#levels.keys()]
  }

  /** Takes over what the server says of its accounts: an earlier process may have taken rights away. */
  knowLevels(levels: ReadonlyMap<string, RightsLevel>): void {
    for (const [user, level] of levels) this.#levels.set(user, level)
  }

  /** Gives a site's account these rights from now on, also when it is created again. Ends its connections, which would keep what they had. */
  async setLevel(connection: Connection, user: string, level: RightsLevel): Promise<void> {
    const before = this.levelOf(user)
    this.#keepLevel(user, level)
    try {
      await setRights(connection, this.#accountOf(user), level)
      if (level !== 'all') await endSessions(connection, user)
    } catch (error) {
      // it is tried again with the next look
      this.#keepLevel(user, before)
      throw error
    }
  }

  #keepLevel(user: string, level: RightsLevel): void {
    if (level === 'all') this.#levels.delete(user)
    else this.#levels.set(user, level)
  }

  /** Keeps the site from its database until it is let in again: also after this process has died. */
  async keepOut(connection: Connection, directory: Pick<SitePlace, 'siteDirectory'>): Promise<void> {
    const { current } = this.namesOf(directory)
    await connection.query(`ALTER USER IF EXISTS ${this.#at(current)} ACCOUNT LOCK`)
    await endSessions(connection, current)
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
