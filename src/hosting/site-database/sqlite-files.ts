import { constants } from 'node:fs'
import { chmod, chown, copyFile, lchown, lstat, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { asDiskFull } from '../site-directories/disk-space.ts'
import { inFolder, lookInside } from '../site-files/open-inside.ts'
import { removeTree } from '../site-files/remove-tree.ts'
import type { DatabaseState, SitePlace } from './database-content.ts'
import { DATABASE_FOLDER, DATABASE_NAME } from './sqlite-place.ts'

/** The suffixes of files that SQLite puts next to a database. */
const BESIDE = ['-journal', '-wal', '-shm'] as const

/**
 * The files of a site's database. The one in use is where its PHP can change it. All others are in `database/` of the
 * site directory, which PHP cannot reach.
 *
 * A journal belongs only to the file next to it. So a file leaves its place before any file next to it is touched. And
 * no file takes the place before all files next to the last one are gone. The existing files show which of these steps
 * were done.
 */
export class SqliteFiles {
  readonly #place: SitePlace
  /** The folder that only Stead uses. */
  readonly folder: string

  constructor(directory: SitePlace) {
    this.#place = directory
    this.folder = join(directory.siteDirectory, 'database')
  }

  get next(): string {
    return join(this.folder, 'next.sqlite')
  }

  get previous(): string {
    return join(this.folder, 'previous.sqlite')
  }

  /** Where the old file waits while its replacement takes its place. */
  get #dropped(): string {
    return join(this.folder, 'dropped.sqlite')
  }

  async state(): Promise<DatabaseState> {
    const [hasNext, hasPrevious] = await Promise.all([isThere(this.next), isThere(this.previous)])
    return { hasCurrent: this.#current() !== undefined, hasNext, hasPrevious }
  }

  /** Returns the bytes of the file in use and its journal. */
  bytes(): number {
    return (this.#current() ?? 0) + (this.#sizeOf(`${DATABASE_NAME}-journal`) ?? 0)
  }

  /**
   * Creates a folder that belongs to the site's user, in which a child can work. Removes any earlier one of this name.
   */
  async makeFolder(name: string): Promise<string> {
    await this.#makeOwnFolder()
    const path = join(this.folder, name)
    await removeTree(path)
    await mkdir(path, { mode: 0o700 })
    const { uid } = this.#place
    if (uid !== null) await chown(path, uid, uid)
    return path
  }

  /**
   * Copies the file in use with its journal, with a reflink if possible. No PHP of the site runs meanwhile. @throws
   * DiskFull
   */
  async copyTo(folder: string, name: string): Promise<void> {
    for (const suffix of ['', ...BESIDE]) {
      const found = lookInside(this.#place.siteDirectory, `${DATABASE_FOLDER}/${DATABASE_NAME}${suffix}`)
      if (found?.kind !== 'file') {
        found?.close()
        if (suffix === '') throw Object.assign(new Error('there is no database file'), { code: 'ENOENT' })
        continue
      }
      const to = join(folder, name + suffix)
      try {
        await copyFile(found.path, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
        await this.#give(to)
      } catch (error) {
        throw asDiskFull(error)
      } finally {
        found.close()
      }
    }
  }

  /** Makes the file of a child that has ended the next one. */
  async takeNext(folder: string, name: string): Promise<void> {
    const made = lookInside(folder, name)
    try {
      if (made?.kind !== 'file') throw new Error('the process has left no database')
      const handle = await made.open()
      await handle.sync().finally(() => handle.close())
      await rename(join(folder, name), this.next)
    } catch (error) {
      throw asDiskFull(error)
    } finally {
      made?.close()
    }
    await sync(this.folder)
  }

  /**
   * Switches to the next file. No PHP of the site runs meanwhile, and no journal is next to the file in use, except a
   * useless one.
   */
  async switch(): Promise<void> {
    if (!(await isThere(this.next))) return
    await this.#inPlace(async (place) => {
      if (await isThere(join(place, DATABASE_NAME))) {
        await removeTree(this.previous)
        await rename(join(place, DATABASE_NAME), this.previous)
      }
      await this.#clear(place)
      await this.#give(this.next)
      await rename(this.next, join(place, DATABASE_NAME))
      await sync(place)
    })
    await sync(this.folder)
  }

  /** Switches back to the previous file. No PHP of the site runs meanwhile. */
  async switchBack(): Promise<void> {
    if (!(await isThere(this.previous))) return
    await this.#inPlace(async (place) => {
      if (await isThere(join(place, DATABASE_NAME))) {
        await removeTree(this.#dropped)
        await rename(join(place, DATABASE_NAME), this.#dropped)
      }
      await this.#clear(place)
      await rename(this.previous, join(place, DATABASE_NAME))
      await sync(place)
    })
    await removeTree(this.#dropped)
    await sync(this.folder)
  }

  /** Removes the next and previous files. Keeps the file in use. */
  async cleanUp(): Promise<void> {
    for (const path of [this.next, this.previous, this.#dropped]) await removeTree(path)
  }

  /** Removes the files. No PHP of the site runs meanwhile. */
  async drop(): Promise<void> {
    await removeTree(this.folder)
    await inFolder(this.#place.siteDirectory, DATABASE_FOLDER, async (place) => {
      await removeTree(join(place, DATABASE_NAME))
      await this.#clear(place)
      await sync(place)
    })
  }

  /** Returns whether PHP has left a journal. The file in use is not complete without it. */
  get hasJournal(): boolean {
    return BESIDE.some((suffix) => this.#sizeOf(DATABASE_NAME + suffix) !== undefined)
  }

  /** Returns the folder of the file in use, for a child, or undefined when there is none. */
  get place(): string | undefined {
    const found = lookInside(this.#place.siteDirectory, DATABASE_FOLDER)
    found?.close()
    return found?.kind === 'directory' ? join(this.#place.siteDirectory, DATABASE_FOLDER) : undefined
  }

  #current(): number | undefined {
    return this.#sizeOf(DATABASE_NAME)
  }

  #sizeOf(name: string): number | undefined {
    const found = lookInside(this.#place.siteDirectory, `${DATABASE_FOLDER}/${name}`)
    found?.close()
    return found?.kind === 'file' ? found.stats.size : undefined
  }

  async #makeOwnFolder(): Promise<void> {
    await mkdir(this.folder, { mode: 0o710 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    const { uid } = this.#place
    if (uid !== null) await chown(this.folder, 0, uid)
    await chmod(this.folder, 0o710)
  }

  /** Works in the folder of the file in use, which is created again if the site has put something else there. */
  async #inPlace(work: (place: string) => Promise<void>): Promise<void> {
    const { siteDirectory } = this.#place
    const isDone = () => inFolder(siteDirectory, DATABASE_FOLDER, (place) => work(place).then(() => true))
    if (await isDone()) return
    await inFolder(siteDirectory, 'private', async (folder) => {
      const path = join(folder, 'database')
      await removeTree(path)
      await mkdir(path, { mode: 0o700 })
      if (this.#place.uid !== null) await lchown(path, this.#place.uid, this.#place.uid)
    })
    if (!(await isDone())) throw new Error('the site directory has no place for a database')
  }

  /** Removes the files next to a removed database. They belong to no database any longer. */
  async #clear(place: string): Promise<void> {
    for (const suffix of BESIDE) await removeTree(join(place, DATABASE_NAME + suffix))
  }

  async #give(path: string): Promise<void> {
    const { uid } = this.#place
    if (uid !== null) await lchown(path, uid, uid)
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    await handle.chmod(0o600).finally(() => handle.close())
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

/** Ensures that the names in a folder are on the disk. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
