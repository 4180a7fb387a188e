import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, type Stats, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { wpConfig } from '../../php/wp-config.ts'
import { lookInside } from '../open-inside.ts'
import { removeTree } from '../remove-tree.ts'
import { layLayer, layPlatformFiles } from './lay-out-directory.ts'
import { databaseDropIn, sqlitePlugin } from './platform-files.ts'
import {
  BROKEN_CONFIG,
  type ConfigConstants,
  changeWpConfig,
  editWpConfig,
  plainConstants,
  readWpConfig,
  withStandardComment,
  writeWpConfig,
} from './wp-config-file.ts'

/** A file of at most this size may contain only white space. */
const MOST_EMPTY_BYTES = 100
/**
 * Constants of a wp-config.php that are not the site's decision, and folders. A wrong one keeps WordPress from
 * starting.
 */
const OF_THE_PLATFORM = /^(?:ABSPATH|WPINC|DB_(?:NAME|USER|PASSWORD|HOST|DIR|FILE)|SQLITE_JOURNAL_MODE|\w+_DIR)$/

const USER_INI = '.user.ini'
/** The most sites whose `.user.ini` report is remembered. Beyond that, all are reported again. */
const MOST_TOLD = 10_000

/** A site whose PHP is about to start. */
export interface KeptSite {
  readonly siteDirectory: string
  readonly uid: number | null
  readonly isInSafeMode?: boolean
}

/** Facts about a site's WordPress that do not come from its wp-config.php. */
export interface InstalledWordPress {
  /** The prefixes that its table names may have, judging by the tables themselves. */
  readonly prefixes: readonly string[]
  /** Its constants beyond those of every site. A value of `null` means that the constant must be absent. */
  readonly constants: ConfigConstants
}

export interface PlatformKeeperOptions {
  /** A folder that only this process of Stead uses. Files are staged there and copied to the site. */
  readonly folder: string
  /** Returns whether the site's database is on a server, which makes the drop-in unnecessary. */
  readonly isOnServer: (siteDirectory: string) => boolean
  /** Returns the constants about its database that its wp-config.php needs. */
  readonly constants: (siteDirectory: string) => Promise<ConfigConstants>
  /** Called only when its wp-config.php is lost. No prefix means that WordPress is not installed yet. */
  readonly installed: (site: KeptSite) => Promise<InstalledWordPress>
}

/**
 * Checks the files that a site needs to run, before its PHP starts. These are the drop-in and the plugin that reach a
 * database in a file, and `wp-config.php` with its constants that say where the database is. Restores those that the
 * site, one of its plugins, or an SFTP user has removed or replaced. Changes nothing else of the site.
 */
export class PlatformKeeper {
  readonly #options: PlatformKeeperOptions
  #reference: Promise<ReadonlyMap<string, number>> | undefined
  /** Repairs in progress, by site directory. A second call finds the work done. */
  readonly #mending = new Map<string, Promise<string[]>>()
  /** Site directories where WordPress did not get past `wp-config.php`. */
  readonly #distrusted = new Set<string>()
  /** By site directory, the modification time of the `.user.ini` that was reported. */
  readonly #told = new Map<string, number>()

  constructor(options: PlatformKeeperOptions) {
    this.#options = options
  }

  /**
   * Records that WordPress did not start with the site's wp-config.php. If the site is in safe mode, the next start
   * replaces the file.
   */
  distrustConfig(siteDirectory: string): void {
    this.#distrusted.add(siteDirectory)
  }

  /** @returns what was restored, each as a sentence */
  mend(site: KeptSite): Promise<string[]> {
    const under = this.#mending.get(site.siteDirectory)
    if (under) return under.then(() => [])
    const mending = this.#mend(site).finally(() => this.#mending.delete(site.siteDirectory))
    this.#mending.set(site.siteDirectory, mending)
    return mending
  }

  async #mend(site: KeptSite): Promise<string[]> {
    const { siteDirectory, uid } = site
    // WordPress is not installed yet.
    if (!existsSync(join(siteDirectory, 'web/wp-content'))) return []
    const mended = await this.#mendConfig(site)
    if (!isFile(join(siteDirectory, 'web/wp-config.php'))) return mended
    if (!this.#options.isOnServer(siteDirectory) && !(await this.#hasFiles(siteDirectory))) {
      await layPlatformFiles(siteDirectory, this.#options.folder, uid)
      mended.push(
        `${databaseDropIn} and ${sqlitePlugin}, through which the site reaches its database, were changed or missing. Stead restored them.`,
      )
    }
    if (await changeWpConfig(siteDirectory, uid, await this.#options.constants(siteDirectory)))
      mended.push(
        'The constants of wp-config.php that say where the database is were changed or missing. Stead restored them.',
      )
    // Updates files that an earlier version of Stead wrote.
    await editWpConfig(siteDirectory, uid, withStandardComment)
    return [...mended, ...this.#ownSettings(siteDirectory)]
  }

  /** Reports once for each `.user.ini` that PHP does not read it. */
  #ownSettings(siteDirectory: string): string[] {
    const writtenAt = statsOf(join(siteDirectory, 'web', USER_INI))?.mtimeMs
    if (writtenAt === undefined || this.#told.get(siteDirectory) === writtenAt) return []
    if (this.#told.size >= MOST_TOLD) this.#told.clear()
    this.#told.set(siteDirectory, writtenAt)
    const text = textOf(siteDirectory, `web/${USER_INI}`) ?? ''
    const names = [...text.matchAll(/^[ \t]*([a-z][\w.]{0,60})[ \t]*=/gim)].map(([, name]) => name as string)
    if (names.length === 0) return []
    const listed = [...new Set(names)].slice(0, 20).join(', ')
    return [
      `${USER_INI} has no effect here, so these settings keep the values of the host: ${listed}. PHP code can change most settings with ini_set, such as in wp-config.php.`,
    ]
  }

  /**
   * Writes a wp-config.php that is missing, is empty, or kept WordPress from starting in safe mode. Its content comes
   * from the database, the record of the site, and the constants that the old file set literally.
   */
  async #mendConfig(site: KeptSite): Promise<string[]> {
    const { siteDirectory, uid } = site
    const isBroken = this.#distrusted.delete(siteDirectory) && site.isInSafeMode === true
    const size = statsOf(join(siteDirectory, 'web/wp-config.php'))?.size ?? 0
    if (size > MOST_EMPTY_BYTES && !isBroken) return []
    const before = await readWpConfig(siteDirectory)
    if (before?.trim() && !isBroken) return []
    const { prefixes, constants } = await this.#options.installed(site)
    const said = /^[ \t]*\$table_prefix\s*=\s*(['"])(\w{1,64})\1\s*;/m.exec(before ?? '')?.[2]
    const prefix = prefixes.find((each) => each === said) ?? prefixes[0]
    if (prefix === undefined) return []
    const kept = Object.entries(plainConstants(before ?? '')).filter(([name]) => !OF_THE_PLATFORM.test(name))
    const all = Object.entries({ ...Object.fromEntries(kept), ...constants })
    const extraConstants = Object.fromEntries(all.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
    const database = await this.#options.constants(siteDirectory)
    const config = { environmentType: 'production' as const, database, extraConstants, tablePrefix: prefix }
    await writeWpConfig(siteDirectory, uid, wpConfig(config, randomBytes), before)
    if (!before?.trim())
      return [
        `wp-config.php was missing. Stead wrote a new one for the tables that begin with ${prefix}. Its keys are new, so all users must log in again.`,
      ]
    return [
      `WordPress did not start with wp-config.php. Stead wrote a new one with the constants that it could read. The old one is in private/${BROKEN_CONFIG}.`,
    ]
  }

  /**
   * Returns whether each file is there with the right length. A site that changes a file on purpose and keeps its
   * length harms only itself.
   */
  async #hasFiles(siteDirectory: string): Promise<boolean> {
    this.#reference ??= this.#layReference().catch((error) => {
      this.#reference = undefined
      throw error
    })
    for (const [path, size] of await this.#reference)
      if (statsOf(join(siteDirectory, 'web', path))?.size !== size) return false
    const [ours, found] = [this.#options.folder, siteDirectory].map((root) => textOf(root, `web/${databaseDropIn}`))
    return ours === found
  }

  async #layReference(): Promise<ReadonlyMap<string, number>> {
    const { folder } = this.#options
    await removeTree(folder)
    await layLayer(join(folder, 'web'))
    const plugin = join(folder, 'web', sqlitePlugin)
    const entries = await readdir(plugin, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    return new Map(files.map((file) => [file.slice(join(folder, 'web').length + 1), statSync(file).size]))
  }
}

const statsOf = (path: string): Stats | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() ? stats : undefined
}
const isFile = (path: string): boolean => statsOf(path) !== undefined

function textOf(root: string, path: string): string | undefined {
  const found = lookInside(root, path)
  try {
    return found?.kind === 'file' ? found.read(0, Math.min(found.stats.size, 1 << 16)).toString() : undefined
  } finally {
    found?.close()
  }
}
