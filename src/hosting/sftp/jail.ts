/**
 * A site's files as an SFTP client sees them: the web root, and nothing outside it. The site's PHP may be hostile and
 * may swap folders for links at any time. Paths are therefore resolved part by part through descriptors
 * (`site-files/pin.ts`), and every operation uses the descriptor that was opened. When Stead runs as root, a client may
 * do what the site's own user may.
 */
import { constants, fchmod, fchown, fstat, fstatSync, open, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, opendir, readlink, rename, rmdir, unlink, utimes } from 'node:fs/promises'
import { promisify } from 'node:util'
import { CORE_FOLDERS, isCores, lastName, parentOf } from '../site-files/paths.ts'
import { LINUX, O_PATH, type Pinned, pin, pinBelow } from '../site-files/stage/pin.ts'
import { pathBelowRoot, requireOwn } from './client-paths.ts'
import { ClientFile, OpenFolder } from './open-things.ts'
import { Refused } from './refused.ts'
import type { WriteRoom } from './write-room.ts'

const openFd = promisify(open)
const [stat, setMode, setOwner] = [promisify(fstat), promisify(fchmod), promisify(fchown)]

/** Neither set-user-id nor writable for others. The site's other processes run as the same user. */
const MOST_MODE = 0o755
const [READ, WRITE] = [0o4, 0o2]

export interface JailOptions {
  /** The web root. */
  readonly root: string
  /** Location of the core's own folders. */
  readonly corePath: string
  /** The site's user and group. Null: the user that Stead runs as. */
  readonly uid: number | null
  readonly room: Pick<WriteRoom, 'take'>
}

/** Changes to a file or folder. */
export interface Wanted {
  readonly size?: number | undefined
  readonly mode?: number | undefined
  /** Seconds. */
  readonly times?: { readonly atime: number; readonly mtime: number } | undefined
}

export interface OpenWish {
  readonly read: boolean
  readonly write: boolean
  readonly append: boolean
  readonly create: boolean
  readonly truncate: boolean
  readonly exclusive: boolean
  readonly mode?: number | undefined
}

export class Jail {
  readonly #options: JailOptions

  constructor(options: JailOptions) {
    this.#options = options
  }

  /** Returns the attributes of the entry itself, even if it is a link. */
  async look(path: string): Promise<Stats> {
    const place = pathBelowRoot(path)
    return this.#at(place, async (at) => this.#shown(place, await lstat(at)))
  }

  async readLink(path: string): Promise<string> {
    return this.#at(pathBelowRoot(path), (at) => readlink(at))
  }

  async openFolder(path: string): Promise<OpenFolder> {
    const place = pathBelowRoot(path)
    const folder = this.#pin(place)
    try {
      if (!isCores(place)) this.#requireAccess(fstatSync(folder.fd), READ)
      const entries = await opendir(folder.path, { bufferSize: 64 })
      return new OpenFolder(folder, entries, (name, at) => this.#entry(place, name, at))
    } catch (error) {
      folder.close()
      throw error
    }
  }

  async openFile(path: string, wish: OpenWish): Promise<ClientFile> {
    const place = pathBelowRoot(path)
    const writes = wish.write || wish.append
    if (writes || wish.create || wish.truncate) requireOwn(place)
    // The file may appear or disappear between two attempts.
    for (let times = 0; times < 3; times++) {
      const found = await this.#openThere(place, wish)
      if (found) return found
      if (!wish.create) break
      const made = await this.#make(place, wish)
      if (made) return made
    }
    throw new Refused('missing', 'No such file')
  }

  async #openThere(place: string, wish: OpenWish): Promise<ClientFile | undefined> {
    const { room } = this.#options
    const writes = wish.write || wish.append
    return this.#withThing(place, async (at, stats) => {
      if (!stats.isFile()) throw new Refused('failure', 'It is not a file')
      if (wish.create && wish.exclusive) throw new Refused('failure', 'This name is already taken')
      if (!isCores(place)) {
        if (wish.read || !writes) this.#requireAccess(stats, READ)
        if (writes || wish.truncate) this.#requireAccess(stats, WRITE)
      }
      const access = writes ? (wish.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY
      const file = new ClientFile(await openFd(at, access | (wish.append ? constants.O_APPEND : 0)), { room, ...wish })
      if (wish.truncate && writes)
        await file.setSize(0).catch((error) => file.close().then(() => Promise.reject(error)))
      return file
    })
  }

  /** @returns undefined when something with that name exists by now */
  async #make(place: string, wish: OpenWish): Promise<ClientFile | undefined> {
    const { room, uid } = this.#options
    return this.#inOwnFolder(place, async (at) => {
      await room.take(0, 1)
      const access = wish.read ? constants.O_RDWR : constants.O_WRONLY
      const flags = access | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
      let fd: number
      try {
        fd = await openFd(at, flags | (wish.append ? constants.O_APPEND : 0), 0o600)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
        throw error
      }
      const file = new ClientFile(fd, { room, ...wish })
      try {
        if (uid !== null) await setOwner(fd, uid, uid)
        await setMode(fd, ((wish.mode ?? 0o644) & MOST_MODE) | 0o600)
        return file
      } catch (error) {
        await file.close()
        throw error
      }
    })
  }

  async makeFolder(path: string, mode = 0o755): Promise<void> {
    const place = pathBelowRoot(path)
    requireOwn(place)
    const { room, uid } = this.#options
    await this.#inOwnFolder(place, async (at) => {
      await room.take(0, 1)
      await mkdir(at, 0o700)
      const made = pin(at)
      // Someone else has put something there meanwhile.
      if (!made) return
      try {
        const { uid: owner } = fstatSync(made.fd)
        if (uid !== null && owner === process.getuid?.()) await ownFolder(made, uid)
        await chmod(made.path, (mode & MOST_MODE) | 0o700)
      } finally {
        made.close()
      }
    })
  }

  async removeFile(path: string): Promise<void> {
    const place = pathBelowRoot(path)
    requireOwn(place)
    await this.#inOwnFolder(place, async (at) => {
      if ((await lstat(at)).isDirectory()) throw new Refused('failure', 'It is a folder')
      await unlink(at)
    })
  }

  async removeFolder(path: string): Promise<void> {
    const place = pathBelowRoot(path)
    requireOwn(place)
    await this.#inOwnFolder(place, (at) => rmdir(at))
  }

  /** Renames as the system does: replaces an existing file. */
  async move(from: string, to: string): Promise<void> {
    const [source, target] = [pathBelowRoot(from), pathBelowRoot(to)]
    for (const place of [source, target]) requireOwn(place)
    await this.#inOwnFolder(source, (at) => this.#inOwnFolder(target, (other) => rename(at, other)))
  }

  async change(path: string, wanted: Wanted): Promise<void> {
    const place = pathBelowRoot(path)
    requireOwn(place)
    if (wanted.size !== undefined) {
      const wish = { write: true, read: false, append: false, create: false, truncate: false, exclusive: false }
      const file = await this.openFile(path, wish)
      await file.setSize(wanted.size).finally(() => file.close())
    }
    if (wanted.mode === undefined && !wanted.times) return
    const isThere = await this.#withThing(place, async (at, stats) => {
      this.#demandOwner(stats)
      if (wanted.mode !== undefined) await chmod(at, wanted.mode & MOST_MODE)
      if (wanted.times) await utimes(at, wanted.times.atime, wanted.times.mtime)
      return true
    })
    if (!isThere) throw new Refused('missing', 'No such file')
  }

  /** Applies the same changes to an open file. */
  async changeOpen(file: ClientFile, wanted: Wanted): Promise<void> {
    if (wanted.size !== undefined) await file.setSize(wanted.size)
    if (wanted.mode === undefined && !wanted.times) return
    this.#demandOwner(fstatSync(file.fd))
    if (wanted.mode !== undefined) await setMode(file.fd, wanted.mode & MOST_MODE)
    if (wanted.times) await file.setTimes(wanted.times)
  }

  /** Hides write permission on core folders, which belong to the core. */
  #shown(place: string, stats: Stats): Stats {
    if (isCores(place)) stats.mode &= ~0o222
    const { uid } = this.#options
    if (uid !== null) Object.assign(stats, { uid, gid: uid })
    return stats
  }

  async #entry(folder: string, name: string, at: string): Promise<Stats | undefined> {
    const place = folder === '' ? name : `${folder}/${name}`
    try {
      if (folder === '' && CORE_FOLDERS.includes(name)) return await this.look(place)
      return this.#shown(place, await lstat(at))
    } catch {
      // It has disappeared since.
      return undefined
    }
  }

  #rootOf(place: string): string {
    return isCores(place) ? this.#options.corePath : this.#options.root
  }

  #pin(place: string): Pinned {
    const folder = pinBelow(this.#rootOf(place), place)
    if (!folder) throw new Refused('missing', 'No such folder')
    return folder
  }

  /** Calls back with a path whose last part may be anything. Use it only for calls that do not follow links. */
  async #at<Result>(place: string, work: (at: string) => Promise<Result>): Promise<Result> {
    const root = this.#rootOf(place)
    const folder = place === '' ? pin(root) : pinBelow(root, parentOf(place))
    if (!folder) throw new Refused('missing', 'No such file')
    try {
      return await work(place === '' ? `${folder.path}/.` : `${folder.path}/${lastName(place)}`)
    } finally {
      folder.close()
    }
  }

  /** Does the same, and requires that the site's user may change the folder. */
  async #inOwnFolder<Result>(place: string, work: (at: string) => Promise<Result>): Promise<Result> {
    const folder = this.#pin(parentOf(place))
    try {
      this.#requireAccess(fstatSync(folder.fd), WRITE)
      return await work(`${folder.path}/${lastName(place)}`)
    } finally {
      folder.close()
    }
  }

  /**
   * Calls back with a path to the file or folder itself. Nothing has been opened for reading or writing yet, so no FIFO
   * blocks and no device starts.
   * @returns undefined when it does not exist
   */
  async #withThing<Result>(
    place: string,
    work: (at: string, stats: Stats) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.#at(place, async (at) => {
      let fd: number
      try {
        fd = await openFd(
          at,
          LINUX ? O_PATH | constants.O_NOFOLLOW : constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
        )
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      const thing = new ClientFile(fd)
      try {
        const stats = await stat(fd)
        if (stats.isSymbolicLink()) throw new Refused('denied', 'Links are not followed')
        if (!stats.isFile() && !stats.isDirectory()) throw new Refused('failure', 'It is neither a file nor a folder')
        return await work(LINUX ? `/proc/self/fd/${fd}` : at, stats)
      } finally {
        await thing.close()
      }
    })
  }

  /** Checks what the kernel would check for the site's user, because it allows root everything. */
  #requireAccess({ uid, mode }: Stats, bit: number): void {
    const { uid: own } = this.#options
    if (own === null) return
    const granted = uid === own ? mode >> 6 : mode
    if ((granted & bit) === 0) throw new Refused('denied', 'Permission denied')
  }

  #demandOwner({ uid }: Stats): void {
    const { uid: own } = this.#options
    if (own !== null && uid !== own) throw new Refused('denied', 'Permission denied')
  }
}

/** Gives a folder that was just created to its owner, through its descriptor. */
async function ownFolder(folder: Pinned, uid: number): Promise<void> {
  const fd = await openFd(`${folder.path}/.`, constants.O_RDONLY | constants.O_DIRECTORY)
  const opened = new ClientFile(fd)
  await setOwner(fd, uid, uid).finally(() => opened.close())
}
