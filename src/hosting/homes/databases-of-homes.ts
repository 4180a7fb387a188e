import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log/log.ts'
import { databaseConstantsOf } from '../php/wp-config.ts'
import { layPlatformFiles, removePlatformFiles, renewPlatformFiles } from '../site-files/lay-out-home.ts'
import { type ConfigConstants, changeWpConfig } from '../site-files/wp-config-file.ts'
import type { HomeDatabases } from './home-databases.ts'
import type { Home } from './homes.ts'
import type { OnServer } from './specialise.ts'
import type { Template } from './template.ts'

/** The databases of homes, whichever kind they are: those in homes come and go with them, those on a server need somebody who does that. */
export class DatabasesOfHomes {
  readonly #server: HomeDatabases | undefined
  readonly #log: Log

  /** @param server undefined: this host has none */
  constructor(server: HomeDatabases | undefined, log: Log) {
    this.#server = server
    this.#log = log
  }

  get hasServer(): boolean {
    return this.#server !== undefined
  }

  /** For a home that was copied from the template. */
  async make(home: Home, template: Template): Promise<void> {
    if (home.database !== 'mariadb') return
    // the template's
    await rm(join(home.path, 'private/database/site.sqlite'), { force: true })
    await this.#demanded.make(home, template)
    await this.fit(home, template.path)
  }

  /** For a home with nothing of WordPress in it. */
  async makeEmpty(home: Home): Promise<void> {
    if (home.database === 'mariadb') await this.#demanded.ensure(home)
  }

  async drop(home: Home): Promise<void> {
    if (home.database === 'mariadb') return this.#demanded.drop(home)
    // a move to the server may have been cut off; what is left of it is found by the next start
    await this.#server
      ?.drop(home)
      .catch((error) =>
        this.#log.warn({ err: error, home: home.id }, 'cannot determine whether a site directory left a database'),
      )
  }

  /** As a new site gets it; undefined: it is in the home. */
  async onServer(home: Home, templatePath: string): Promise<OnServer | undefined> {
    if (home.database !== 'mariadb') return undefined
    const server = this.#demanded
    return { fill: (edits) => server.fill(home, templatePath, edits), constants: await server.constants(home) }
  }

  /** What `wp-config.php` of a home says of its database. */
  async constants(home: Home): Promise<ConfigConstants> {
    return home.database === 'mariadb' ? this.#demanded.constants(home) : databaseConstantsOf()
  }

  /** Files that came from elsewhere reach the home's own database from now on, and no other. No PHP of the site runs. */
  async fit(home: Home, templatePath: string): Promise<void> {
    await this.#fit(home, templatePath).catch((error) => {
      // from a home whose database is a file no server is reached, whatever its configuration says
      if (home.database === 'mariadb') throw error
      this.#log.warn({ err: error, home: home.id }, 'could not update the configuration of a site directory')
    })
  }

  async #fit(home: Home, templatePath: string): Promise<void> {
    if (home.database === 'mariadb') await removePlatformFiles(home.path)
    else await layPlatformFiles(home.path, templatePath, home.uid)
    await changeWpConfig(home.path, home.uid, await this.constants(home))
  }

  /** What homes need for a database that is a file, as this Stead has it. No PHP of any site runs. */
  async renew(homes: readonly Home[], folder: string): Promise<void> {
    await renewPlatformFiles(homes, folder, ({ path }, error) =>
      this.#log.error({ err: error, folder: path }, 'could not update the SQLite plugin of a site directory'),
    )
  }

  /** One on the server for a home that has another; {@link turnTo} makes it the one in use. */
  async prepareServer(home: Home): Promise<void> {
    await this.#demanded.prepareNext(home)
  }

  /**
   * The site of a home runs on its other database from now on, which is there. No PHP of the site runs. May be called again.
   * @param home with what its database is to be; its record says so later
   */
  async turnTo(home: Home, templatePath: string): Promise<void> {
    await this.#demanded.turn(home, home.database === 'mariadb')
    await this.#fit(home, templatePath)
  }

  /** Numbers of homes that have something on the server; none where it does not answer. */
  async numbers(): Promise<number[]> {
    try {
      return (await this.#server?.numbers()) ?? []
    } catch (error) {
      this.#log.error({ err: error }, 'could not check the databases of site directories')
      return []
    }
  }

  /** As with folders: it is kept whole, and nobody comes to it until its record is back. */
  async setAside(home: { readonly id: number; readonly path: string }): Promise<void> {
    try {
      await this.#demanded.setAside(home)
      this.#log.warn({ home: home.id }, 'quarantined an unknown database and locked its account')
    } catch (error) {
      this.#log.error({ err: error, home: home.id }, 'could not quarantine an unknown database')
    }
  }

  async bringBack(home: Home): Promise<void> {
    if (home.database === 'mariadb') await this.#demanded.bringBack(home)
  }

  get #demanded(): HomeDatabases {
    if (this.#server) return this.#server
    throw new Error('The site uses MariaDB, which is turned off on this host (STEAD_MARIADB)')
  }
}
