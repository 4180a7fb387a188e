import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs'
import { seconds } from '../attributes.ts'
import { isAtOrBelow, lastName } from '../paths.ts'
import { LINUX, type Pinned, pin } from '../stage/pin.ts'
import { SpaceCheck, type SpaceCheckOptions } from '../stage/space-check.ts'
import { TreeWalk, type WalkedEntry, type WalkedFile } from '../tree-walk.ts'

export interface CopyTreeOptions {
  /** A web root. Its site may write in the meantime. */
  readonly from: string
  /** A folder that does not exist yet. */
  readonly to: string
  /** The user that owns the copy. Null means the user that Stead runs as. */
  readonly uid: number | null
  readonly room: SpaceCheckOptions
}

/** The number of attempts for a file that is written while it is copied. */
const MOST_TRIES = 3

interface Open {
  readonly path: string
  readonly folder: Pinned
  readonly mode: number
  readonly mtimeMs: number
}

/** Copies a web root, one entry per call. It is synchronous, for a dedicated thread. */
export class CopyTree {
  doneBytes = 0
  readonly #walk: TreeWalk
  readonly #room: SpaceCheck
  readonly #uid: number | null
  readonly #open: Open[] = []
  #canClone = true

  constructor({ from, to, uid, room }: CopyTreeOptions) {
    this.#walk = new TreeWalk(from, { scope: { paths: [''] }, granularityMs: 0 })
    this.#room = new SpaceCheck(room)
    this.#uid = uid
    this.#openFolder('', to, { mode: 0o755, mtimeMs: Date.now() })
  }

  /**
   * @returns false at the end
   * @throws DiskFull, TooManyFiles
   */
  next(): boolean {
    const entry = this.#walk.next()
    this.#walk.leftOut.length = 0
    while (this.#open.length > 0 && !(entry && isAtOrBelow(entry.path, (this.#open.at(-1) as Open).path)))
      this.#closeFolder()
    if (!entry) return false
    this.#room.takeEntry()
    this.#make(entry, `${this.#open.at(-1)?.folder.path}/${lastName(entry.path)}`)
    return true
  }

  #make(entry: WalkedEntry, place: string): void {
    if (entry.kind === 'folder') this.#openFolder(entry.path, place, entry)
    else if (entry.kind === 'file') this.#copy(entry, place)
    else this.#link(entry, place)
  }

  #link({ target, mtimeMs }: { target: string; mtimeMs: number }, place: string): void {
    symlinkSync(target, place)
    this.#own(place)
    lutimesSync(place, new Date(), seconds(mtimeMs))
  }

  #openFolder(path: string, place: string, { mode, mtimeMs }: { mode: number; mtimeMs: number }): void {
    mkdirSync(place, { mode: 0o700 })
    const folder = pin(place)
    if (!folder) throw new Error('a created folder is gone')
    this.#open.push({ path, folder, mode, mtimeMs })
  }

  #closeFolder(): void {
    const { folder, mode, mtimeMs } = this.#open.pop() as Open
    // Names the folder itself, not the link to it among the descriptors.
    const place = `${folder.path}/.`
    this.#own(place)
    chmodSync(place, mode)
    utimesSync(place, new Date(), seconds(mtimeMs))
    folder.close()
  }

  #copy(entry: WalkedFile, place: string): void {
    const fd = this.#walk.open(entry)
    if (fd === undefined) return
    try {
      for (let tries = 1; ; tries++) {
        const before = fstatSync(fd, { bigint: true })
        this.#copyContent(LINUX ? `/proc/self/fd/${fd}` : this.#walk.placeOf(entry), place, Number(before.size))
        if (tries === MOST_TRIES || fstatSync(fd, { bigint: true }).ctimeNs === before.ctimeNs) break
        unlinkSync(place)
      }
    } finally {
      closeSync(fd)
    }
    this.#own(place)
    chmodSync(place, entry.mode)
    utimesSync(place, new Date(), seconds(entry.mtimeMs))
    this.doneBytes += entry.sizeBytes
  }

  #copyContent(source: string, place: string, sizeBytes: number): void {
    if (this.#canClone && this.#clone(source, place)) return
    this.#room.take(sizeBytes)
    copyFileSync(source, place, constants.COPYFILE_EXCL)
  }

  /** Shares the blocks where the file system can, and then takes no room. */
  #clone(source: string, place: string): boolean {
    try {
      copyFileSync(source, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
    } catch (error) {
      if (!CANNOT_CLONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      this.#canClone = false
    }
    return this.#canClone
  }

  #own(place: string): void {
    if (this.#uid !== null) lchownSync(place, this.#uid, this.#uid)
  }
}

const CANNOT_CLONE = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOTTY', 'EXDEV', 'EINVAL', 'ENOSYS'])
