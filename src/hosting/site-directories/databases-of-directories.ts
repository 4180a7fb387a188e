import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log/log.ts'
import { databaseConstantsOf } from '../php/wp-config.ts'
import { DATABASE_FILE } from '../site-database/sqlite-place.ts'
import { layPlatformFiles, removePlatformFiles, renewPlatformFiles } from '../site-files/platform/lay-out-directory.ts'
import { type ConfigConstants, changeWpConfig } from '../site-files/platform/wp-config-file.ts'
import type { DirectoryDatabases } from './directory-databases.ts'
import type { SiteDirectory } from './site-directories.ts'
import type { OnServer } from './specialise.ts'
import type { Template } from './template.ts'

/** The databases of site directories, whichever kind they are: those in site directories come and go with them, those on a server need somebody who does that. */
export class DatabasesOfDirectories {
  readonly #server: DirectoryDatabases | undefined
  readonly #log: Log

  /** @param server undefined: this host has none */
  constructor(server: DirectoryDatabases | undefined, log: Log) {
    this.#server = server
    this.#log = log
  }

  get hasServer(): boolean {
    return this.#server !== undefined
  }

  /** For a site directory that was copied from the template. */
  async make(directory: SiteDirectory, template: Template): Promise<void> {
    if (directory.database !== 'mariadb') return
    // the template's
    await rm(join(directory.path, DATABASE_FILE), { force: true })
    await this.#demanded.make(directory, template)
    await this.fit(directory, template.path)
  }

  /** For a site directory with nothing of WordPress in it. */
  async makeEmpty(directory: SiteDirectory): Promise<void> {
    if (directory.database === 'mariadb') await this.#demanded.ensure(directory)
  }

  async drop(directory: SiteDirectory): Promise<void> {
    if (directory.database === 'mariadb') return this.#demanded.drop(directory)
    // a move to the server may have been cut off; what is left of it is found by the next start
    await this.#server
      ?.drop(directory)
      .catch((error) =>
        this.#log.warn(
          { err: error, directory: directory.id },
          'cannot determine whether a site directory left a database',
        ),
      )
  }

  /** As a new site gets it; undefined: it is in the site directory. */
  async onServer(directory: SiteDirectory, templatePath: string): Promise<OnServer | undefined> {
    if (directory.database !== 'mariadb') return undefined
    const server = this.#demanded
    return {
      fill: (edits) => server.fill(directory, templatePath, edits),
      constants: await server.constants(directory),
    }
  }

  /** What `wp-config.php` of a site directory says of its database. */
  async constants(directory: SiteDirectory): Promise<ConfigConstants> {
    return directory.database === 'mariadb' ? this.#demanded.constants(directory) : databaseConstantsOf()
  }

  /** Files that came from elsewhere reach the site directory's own database from now on, and no other. No PHP of the site runs. */
  async fit(directory: SiteDirectory, templatePath: string): Promise<void> {
    await this.#fit(directory, templatePath).catch((error) => {
      // from a site directory whose database is a file no server is reached, whatever its configuration says
      if (directory.database === 'mariadb') throw error
      this.#log.warn({ err: error, directory: directory.id }, 'could not update the configuration of a site directory')
    })
  }

  async #fit(directory: SiteDirectory, templatePath: string): Promise<void> {
    if (directory.database === 'mariadb') await removePlatformFiles(directory.path)
    else await layPlatformFiles(directory.path, templatePath, directory.uid)
    await changeWpConfig(directory.path, directory.uid, await this.constants(directory))
  }

  /** What site directories need for a database that is a file, as this Stead has it. No PHP of any site runs. */
  async renew(siteDirectories: readonly SiteDirectory[], folder: string): Promise<void> {
    await renewPlatformFiles(siteDirectories, folder, ({ path }, error) =>
      this.#log.error({ err: error, folder: path }, 'could not update the SQLite plugin of a site directory'),
    )
  }

  /** One on the server for a site directory that has another; {@link turnTo} makes it the one in use. */
  async prepareServer(directory: SiteDirectory): Promise<void> {
    await this.#demanded.prepareNext(directory)
  }

  /**
   * The site of a site directory runs on its other database from now on, which is there. No PHP of the site runs. May be called again.
   * @param directory with what its database is to be; its record says so later
   */
  async turnTo(directory: SiteDirectory, templatePath: string): Promise<void> {
    await this.#demanded.turn(directory, directory.database === 'mariadb')
    await this.#fit(directory, templatePath)
  }

  /** Numbers of site directories that have something on the server; none where it does not answer. */
  async numbers(): Promise<number[]> {
    try {
      return (await this.#server?.numbers()) ?? []
    } catch (error) {
      this.#log.error({ err: error }, 'could not check the databases of site directories')
      return []
    }
  }

  /** As with folders: it is kept whole, and nobody comes to it until its record is back. */
  async quarantine(directory: { readonly id: number; readonly path: string }): Promise<void> {
    try {
      await this.#demanded.quarantine(directory)
      this.#log.warn({ directory: directory.id }, 'quarantined an unknown database and locked its account')
    } catch (error) {
      this.#log.error({ err: error, directory: directory.id }, 'could not quarantine an unknown database')
    }
  }

  async recover(directory: SiteDirectory): Promise<void> {
    if (directory.database === 'mariadb') await this.#demanded.recover(directory)
  }

  get #demanded(): DirectoryDatabases {
    if (this.#server) return this.#server
    throw new Error('The site uses MariaDB, which is turned off on this host (STEAD_MARIADB)')
  }
}
