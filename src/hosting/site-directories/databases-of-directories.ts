import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log/log.ts'
import { databaseConstantsOf } from '../php/wp-config.ts'
import { isOnServer } from '../site-database/database-kind.ts'
import { DATABASE_FILE } from '../site-database/sqlite-place.ts'
import { layPlatformFiles, removePlatformFiles, renewPlatformFiles } from '../site-files/platform/lay-out-directory.ts'
import { type ConfigConstants, changeWpConfig } from '../site-files/platform/wp-config-file.ts'
import type { DirectoryDatabases } from './directory-databases.ts'
import type { SiteDirectory } from './site-directory.ts'
import type { OnServer } from './specialise.ts'
import type { Template } from './template.ts'

/**
 * The databases of site directories, of either kind. Those in site directories come and go with them. Those on a server
 * are created and dropped here.
 */
export class DatabasesOfDirectories {
  readonly #server: DirectoryDatabases | undefined
  readonly #log: Log

  /** @param server undefined when this host has none */
  constructor(server: DirectoryDatabases | undefined, log: Log) {
    this.#server = server
    this.#log = log
  }

  get hasServer(): boolean {
    return this.#server !== undefined
  }

  /** Creates the database of a site directory that was copied from the template. */
  async make(directory: SiteDirectory, template: Template): Promise<void> {
    if (!isOnServer(directory.database)) return
    // This is the template's database.
    await rm(join(directory.path, DATABASE_FILE), { force: true })
    await this.#demanded.make(directory, template)
    await this.fit(directory, template.path)
  }

  /** Creates the database of a site directory without WordPress. */
  async makeEmpty(directory: SiteDirectory): Promise<void> {
    if (isOnServer(directory.database)) await this.#demanded.ensure(directory)
  }

  async drop(directory: SiteDirectory): Promise<void> {
    if (isOnServer(directory.database)) return this.#demanded.drop(directory)
    // An interrupted move to the server may have left a database. If this fails, the next start finds it.
    await this.#server
      ?.drop(directory)
      .catch((error) =>
        this.#log.warn(
          { err: error, directory: directory.id },
          'cannot determine whether a site directory left a database',
        ),
      )
  }

  /** Returns the server database as a new site receives it, or undefined when it is in the site directory. */
  async onServer(directory: SiteDirectory, templatePath: string): Promise<OnServer | undefined> {
    if (!isOnServer(directory.database)) return undefined
    const server = this.#demanded
    return {
      fill: (edits) => server.fill(directory, templatePath, edits),
      constants: await server.constants(directory),
    }
  }

  /** Returns what `wp-config.php` of a site directory says of its database. */
  async constants(directory: SiteDirectory): Promise<ConfigConstants> {
    return isOnServer(directory.database) ? this.#demanded.constants(directory) : databaseConstantsOf()
  }

  /**
   * Connects files that came from elsewhere to the site directory's own database and no other. The site's PHP must not
   * be running.
   */
  async fit(directory: SiteDirectory, templatePath: string): Promise<void> {
    await this.#fit(directory, templatePath).catch((error) => {
      // A site directory with a file database cannot reach a server, whatever its configuration says.
      if (isOnServer(directory.database)) throw error
      this.#log.warn({ err: error, directory: directory.id }, 'could not update the configuration of a site directory')
    })
  }

  async #fit(directory: SiteDirectory, templatePath: string): Promise<void> {
    if (isOnServer(directory.database)) await removePlatformFiles(directory.path)
    else await layPlatformFiles(directory.path, templatePath, directory.uid)
    await changeWpConfig(directory.path, directory.uid, await this.constants(directory))
  }

  /**
   * Updates what site directories with file databases need to the version of this Stead. No site's PHP may be running.
   */
  async renew(siteDirectories: readonly SiteDirectory[], folder: string): Promise<void> {
    await renewPlatformFiles(siteDirectories, folder, ({ path }, error) =>
      this.#log.error({ err: error, folder: path }, 'could not update the SQLite plugin of a site directory'),
    )
  }

  /** Creates a database on the server for a site directory that uses another. {@link turnTo} switches to it. */
  async prepareServer(directory: SiteDirectory): Promise<void> {
    await this.#demanded.prepareNext(directory)
  }

  /**
   * Switches a site directory's site to its other database, which must exist. The site's PHP must not be running.
   * Idempotent.
   * @param directory with its future database; its record is updated later
   */
  async turnTo(directory: SiteDirectory, templatePath: string): Promise<void> {
    await this.#demanded.turn(directory, isOnServer(directory.database))
    await this.#fit(directory, templatePath)
  }

  /** Returns the numbers of site directories that have something on the server. Empty when it does not answer. */
  async numbers(): Promise<number[]> {
    try {
      return (await this.#server?.numbers()) ?? []
    } catch (error) {
      this.#log.error({ err: error }, 'could not check the databases of site directories')
      return []
    }
  }

  /** Quarantines a database as folders are: it is kept whole, and nobody can reach it until its record is back. */
  async quarantine(directory: { readonly id: number; readonly path: string }): Promise<void> {
    try {
      await this.#demanded.quarantine(directory)
      this.#log.warn({ directory: directory.id }, 'quarantined an unknown database and locked its account')
    } catch (error) {
      this.#log.error({ err: error, directory: directory.id }, 'could not quarantine an unknown database')
    }
  }

  async recover(directory: SiteDirectory): Promise<void> {
    if (isOnServer(directory.database)) await this.#demanded.recover(directory)
  }

  get #demanded(): DirectoryDatabases {
    if (this.#server) return this.#server
    throw new Error('The site uses MariaDB, which is turned off on this host (STEAD_MARIADB)')
  }
}
