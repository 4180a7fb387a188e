import { chmod, chown, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFileSystem } from '../../platform/files/flush-file-system.ts'
import type { Log } from '../../platform/log/log.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { coreFolder } from '../core-library/core-folder.ts'
import { directoryNumber, type RunningIdentity } from '../identity/folder.ts'
import { USERS } from '../identity/users.ts'
import { DATABASE_FOLDER } from '../site-database/sqlite-place.ts'
import { giveTo } from '../site-files/platform/lay-out-directory.ts'
import { removeTree } from '../site-files/remove-tree.ts'
import { copyInto } from './copy-into.ts'
import {
  type DirectoryMark,
  isSameDirectory,
  type Owner,
  type RecordedDirectory,
  readMark,
  writeMark,
} from './directory-mark.ts'
import { asDiskFull, checkRoom } from './disk-space.ts'
import { listQuarantined, type Quarantined, quarantine, recover } from './quarantine.ts'

export interface DirectoriesOnDiskOptions {
  readonly dataDir: string
  readonly isRoot: boolean
  readonly log: Log
  readonly identity: RunningIdentity
  /** Stead creates no site directory that would leave less free disk space than this. */
  readonly keepFreeBytes?: number
}

/** What is at the path where a record expects a site directory. */
export type FoundDirectory =
  | 'the directory'
  | 'nothing'
  /** A folder without a mark: older than marks, or not created by Stead. */
  | 'unmarked'
  | 'another directory'

/**
 * The folders of site directories on the disk. Stead deletes a folder only when the mark in it matches, and quarantines
 * any other.
 */
export class DirectoriesOnDisk {
  readonly #options: DirectoriesOnDiskOptions
  #quarantined: readonly Quarantined[] = []

  constructor(options: DirectoriesOnDiskOptions) {
    this.#options = options
  }

  path(id: number): string {
    return join(this.#folder, `h${id}`)
  }

  /** Returns the folder of the core that a site directory's site runs. */
  corePath(version: string): string {
    return coreFolder(this.#options.dataDir, version)
  }

  /**
   * Returns the user of a site directory, or null when Stead does not run as root. The user of number 0 installs
   * templates.
   */
  uidOf(id: number): number | null {
    if (!this.#options.isRoot) return null
    if (id >= USERS)
      throw new OperatorError(`This data folder has had ${USERS} site directories and has no users left for new ones.`)
    return this.#options.identity.current.firstUser + id
  }

  /** How many quarantined folders are still there. */
  get quarantined(): number {
    return this.#quarantined.length
  }

  get #owner(): Owner {
    return this.#options.identity.current
  }

  get #folder(): string {
    return join(this.#options.dataDir, 'sites')
  }

  /** Where Stead prepares its own files for site directories before it copies them. */
  get forPlatformFiles(): string {
    return join(this.#options.dataDir, 'platform-files.making')
  }

  /**
   * Creates the folder of site directories.
   * @returns the numbers of the site directories in it, and of the quarantined ones
   */
  async open(): Promise<{ present: number[]; aside: number[] }> {
    const { dataDir, log } = this.#options
    await mkdir(this.#folder, { recursive: true, mode: 0o711 })
    this.#quarantined = await listQuarantined(dataDir)
    const present: number[] = []
    for (const name of await readdir(this.#folder)) {
      const number = directoryNumber(name)
      if (number !== undefined) present.push(number)
      // An interrupted copy of the template, or an interrupted removal. A copy gets its name when it is complete, and a
      // site only after that.
      else if (/^h\d+\.(making|removing)$/.test(name)) await this.#erase(join(this.#folder, name))
      else if (name !== 'set-aside')
        log.warn({ folder: join(this.#folder, name) }, 'not a site directory, so Stead ignores it')
    }
    return { present, aside: this.#quarantined.flatMap(({ home: directory }) => directory ?? []) }
  }

  async look(record: RecordedDirectory): Promise<FoundDirectory> {
    const path = this.path(record.id)
    const mark = await readMark(path)
    if (mark === 'unreadable') return 'another directory'
    if (mark) return isSameDirectory(mark, record, this.#owner) ? 'the directory' : 'another directory'
    return (await exists(path)) ? 'unmarked' : 'nothing'
  }

  /** Records the owner of the site directory, out of the site's reach. */
  async mark(record: RecordedDirectory, path = this.path(record.id)): Promise<void> {
    const { id, siteId, siteName } = record
    const site: DirectoryMark['site'] = siteId !== null && siteName !== null ? { id: siteId, name: siteName } : null
    const { installation, host } = this.#owner
    await writeMark(path, { installation, host, home: id, site })
    const uid = this.uidOf(id)
    if (uid === null) return
    // The site's user can pass through, but can replace neither the mark nor its siblings.
    await chown(path, 0, uid)
    await chmod(path, 0o710)
  }

  /**
   * Gives a site directory to the user that its PHP runs as, when another user created or copied it before Stead ran as
   * root.
   * @returns whether it belonged to another user
   */
  async giveToOwner(record: RecordedDirectory): Promise<boolean> {
    const uid = this.uidOf(record.id)
    if (uid === null) return false
    const path = this.path(record.id)
    const owner = await stat(path)
    if (owner.uid === 0 && owner.gid === uid) return false
    await giveTo(uid, path)
    // Last, so that the next start repeats an interrupted change.
    await this.mark(record)
    return true
  }

  /**
   * Creates the folder of a site directory whose content comes from elsewhere, without WordPress and without a
   * database. Handles whatever is at its path as {@link make} does.
   * @throws DiskFull
   */
  async makeEmpty(record: RecordedDirectory): Promise<void> {
    return this.#make(record, async (directory) => {
      // Core's own files are mounted over the first two.
      for (const part of ['web/wp-admin', 'web/wp-includes', DATABASE_FOLDER, 'private/tmp'])
        await mkdir(join(directory, part), { recursive: true })
    })
  }

  /**
   * Copies the template. Removes what is there already when it is the same directory, partly created, and otherwise
   * quarantines it.
   * @throws DiskFull
   */
  async make(record: RecordedDirectory, templatePath: string): Promise<void> {
    return this.#make(record, (directory) =>
      copyInto(
        directory,
        ['web', 'private'].map((part) => join(templatePath, part)),
      ),
    )
  }

  async #make(record: RecordedDirectory, fill: (directory: string) => Promise<void>): Promise<void> {
    // Written to disk before the site directory exists, so that the number never gets another directory.
    await this.#options.identity.reserve(record.id)
    await this.remove(record)
    await checkRoom(this.#folder, this.#options.keepFreeBytes)
    const path = this.path(record.id)
    const unfinished = `${path}.making`
    try {
      await mkdir(unfinished, { mode: 0o700 })
      await fill(unfinished)
      const uid = this.uidOf(record.id)
      if (uid !== null) await giveTo(uid, unfinished)
      await this.mark(record, unfinished)
      await flushFileSystem(unfinished)
      await rename(unfinished, path)
    } catch (error) {
      // Half a copy would keep the disk full, so that Stead could not record the error.
      await this.#erase(unfinished)
      throw asDiskFull(error)
    }
  }

  /** Leaves nothing at the record's path. */
  async remove(record: RecordedDirectory): Promise<void> {
    const found = await this.look(record)
    const path = this.path(record.id)
    // Renamed first, because a half-removed folder has lost its mark and no longer counts as a site directory.
    if (found === 'the directory') await rename(path, `${path}.removing`)
    else if (found !== 'nothing') await this.quarantine(record.id, 'not the site directory that Stead wanted to remove')
    await this.#erase(`${path}.removing`)
    await this.#erase(`${path}.making`)
  }

  /** Moves whatever is at a number's path out of the way, whole. */
  async quarantine(id: number, reason: string): Promise<void> {
    const { dataDir, log } = this.#options
    const from = this.path(id)
    const to = await quarantine(dataDir, from, reason, Date.now())
    this.#quarantined = await listQuarantined(dataDir)
    log.warn({ from, to, reason }, 'quarantined an unknown folder')
  }

  /**
   * Moves a quarantined site directory back when its record has returned, for example with the right database.
   * @returns whether there was one
   */
  async recover(record: RecordedDirectory): Promise<boolean> {
    const { dataDir, log } = this.#options
    for (const found of this.#quarantined) {
      const mark = found.home === record.id ? await readMark(found.path) : null
      if (!mark || mark === 'unreadable' || !isSameDirectory(mark, record, this.#owner)) continue
      await recover(found, this.path(record.id))
      this.#quarantined = await listQuarantined(dataDir)
      log.warn({ from: found.path, to: this.path(record.id) }, 'restored a site directory from quarantine')
      return true
    }
    return false
  }

  async #erase(path: string): Promise<void> {
    await removeTree(path)
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
