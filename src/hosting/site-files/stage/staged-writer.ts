import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  write as writeCallback,
} from 'node:fs'
import { type Attributes, seconds } from '../attributes.ts'
import type { WantedEntry } from '../file-content.ts'
import { lastName } from '../paths.ts'
import { fileMode } from '../tree-walk.ts'
import type { WantedFile } from './merge.ts'
import { LINUX } from './pin.ts'
import type { SpaceCheck } from './space-check.ts'

/**
 * Creates new files and folders where no other process works. They get their owner, mode, and time before they are
 * moved in. It works through open folders, so that no path is too long.
 */
export class StagedWriter {
  readonly #uid: number | null
  readonly #room: SpaceCheck
  readonly #signal: AbortSignal | undefined
  readonly #open: { readonly fd: number; readonly place: string }[] = []

  constructor(uid: number | null, room: SpaceCheck, signal: AbortSignal | undefined) {
    this.#uid = uid
    this.#room = room
    this.#signal = signal
  }

  /**
   * Creates one entry. A folder stays open for its content.
   * @returns false when its content is gone by now
   */
  async make(entry: WantedEntry, place: string): Promise<boolean> {
    this.#room.takeEntry()
    if (entry.kind === 'folder') this.#folder(place)
    else if (entry.kind === 'link') this.#link(entry.target, entry.mtimeMs, place)
    else return this.#file(entry, place)
    return true
  }

  /** Returns the place for an entry in the folder that was opened last. */
  placeOf = (path: string): string => `${this.#open.at(-1)?.place}/${lastName(path)}`

  /**
   * Counts a file that was moved into its place as one that was created.
   * @throws DiskFull
   */
  count(sizeBytes: number): void {
    this.#room.takeEntry()
    this.#room.take(sizeBytes)
  }

  /** Closes the folder that was opened last. */
  closeFolder(attributes: Attributes): void {
    const folder = this.#open.pop()
    if (!folder) return
    try {
      finish(folder.fd, this.#uid, attributes)
    } finally {
      closeSync(folder.fd)
    }
  }

  /** Closes open folders after a failure. */
  close(): void {
    for (const { fd } of this.#open.splice(0)) closeSync(fd)
  }

  #folder(place: string): void {
    mkdirSync(place, { mode: 0o700 })
    const fd = openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    this.#open.push({ fd, place: LINUX ? `/proc/self/fd/${fd}` : place })
  }

  #link(target: string, mtimeMs: number, place: string): void {
    symlinkSync(target, place)
    if (this.#uid !== null) lchownSync(place, this.#uid, this.#uid)
    lutimesSync(place, new Date(), seconds(Math.floor(mtimeMs)))
  }

  async #file(entry: WantedFile, place: string): Promise<boolean> {
    const content = await entry.open()
    if (!content) return false
    // Synchronous, like setting its attributes: threads that create files in one folder spin while they wait for each
    // other.
    const fd = openSync(place, 'wx', 0o600)
    try {
      await this.#write(fd, content)
      finish(fd, this.#uid, { mode: fileMode(entry), mtimeMs: Math.floor(entry.mtimeMs) })
    } finally {
      closeSync(fd)
    }
    return true
  }

  async #write(fd: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of content) {
      this.#signal?.throwIfAborted()
      this.#room.take(piece.length)
      for (let at = 0; at < piece.length; ) at += await write(fd, piece, at)
    }
  }
}

/** @returns the number of bytes written */
const write = (fd: number, piece: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    writeCallback(fd, piece, at, piece.length - at, null, (error, bytes) => (error ? reject(error) : resolve(bytes)))
  })

/** Sets the owner first, because changing it clears bits of the mode. */
function finish(fd: number, uid: number | null, { mode, mtimeMs }: Attributes): void {
  if (uid !== null) fchownSync(fd, uid, uid)
  fchmodSync(fd, mode)
  futimesSync(fd, new Date(), seconds(mtimeMs))
}
