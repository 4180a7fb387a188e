import { existsSync, lstatSync, type Stats, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lookInside } from '../open-inside.ts'
import { removeTree } from '../remove-tree.ts'
import { layLayer, layPlatformFiles } from './lay-out-directory.ts'
import { databaseDropIn, sqlitePlugin } from './platform-files.ts'
import { type ConfigConstants, changeWpConfig, editWpConfig, withStandardComment } from './wp-config-file.ts'

/** A site whose PHP is about to start. */
export interface KeptSite {
  readonly siteDirectory: string
  readonly uid: number | null
}

export interface PlatformKeeperOptions {
  /** A folder of Stead's own, which no other process uses: what it lays is copied from there. */
  readonly folder: string
  /** Whether the site's database is on a server: then it needs no drop-in. */
  readonly isOnServer: (siteDirectory: string) => boolean
  /** What its wp-config.php has to say of its database. */
  readonly constants: (siteDirectory: string) => Promise<ConfigConstants>
}

/**
 * Looks, before PHP of a site starts, whether it has what it cannot live without: the drop-in and the plugin by which it reaches a
 * database that is a file, and the constants of `wp-config.php` that say where its database is. What the site, one of its plugins or
 * somebody by SFTP has removed or replaced is put back; nothing else of the site changes.
 */
export class PlatformKeeper {
  readonly #options: PlatformKeeperOptions
  #reference: Promise<ReadonlyMap<string, number>> | undefined
  /** By home: the next one finds it done. */
  readonly #mending = new Map<string, Promise<string[]>>()

  constructor(options: PlatformKeeperOptions) {
    this.#options = options
  }

  /** @returns what was put back, each as the beginning of a sentence */
  mend(site: KeptSite): Promise<string[]> {
    const under = this.#mending.get(site.siteDirectory)
    if (under) return under.then(() => [])
    const mending = this.#mend(site).finally(() => this.#mending.delete(site.siteDirectory))
    this.#mending.set(site.siteDirectory, mending)
    return mending
  }

  async #mend(site: KeptSite): Promise<string[]> {
    const { siteDirectory, uid } = site
    // nothing of WordPress is there yet
    if (!isFile(join(siteDirectory, 'web/wp-config.php')) || !existsSync(join(siteDirectory, 'web/wp-content')))
      return []
    const mended: string[] = []
    if (!this.#options.isOnServer(siteDirectory) && !(await this.#hasFiles(siteDirectory))) {
      await layPlatformFiles(siteDirectory, this.#options.folder, uid)
      mended.push(
        `${databaseDropIn} and ${sqlitePlugin}, by which the site reaches its database, were changed or missing`,
      )
    }
    if (await changeWpConfig(siteDirectory, uid, await this.#options.constants(siteDirectory)))
      mended.push('The constants of wp-config.php that say where the database is were changed or missing')
    // files that Stead wrote earlier
    await editWpConfig(siteDirectory, uid, withStandardComment)
    return mended
  }

  /** Whether each file is there and as long as it should be: what is changed on purpose, and of the same length, is the site's own loss. */
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
