/**
 * Folders of a site at any depth, without ever following a link: part after part is opened for itself, through the descriptor of
 * the one above, so that neither a swapped folder nor the longest path of the system matters. `open-inside.ts` says why.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, read as readCallback } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SourceContent } from '../../../backups/backup-store.ts'
import { nameOf, parentOf } from '../paths.ts'

export const LINUX = process.platform === 'linux'
/** `O_PATH` of Linux, which Node does not export: opens the thing itself, without any right on it, and starts nothing. */
export const O_PATH = LINUX ? 0o10000000 : 0
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

const read = promisify(readCallback)

/** An opened folder; `${path}/name` are its entries, whatever becomes of its name. `close()` it. */
export interface Pinned {
  readonly path: string
  readonly fd: number
  close(): void
}

/** @returns undefined where there is no folder, or a link */
export function pin(path: string): Pinned | undefined {
  let fd: number
  try {
    fd = openSync(path, FOLDER)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
  return { fd, path: LINUX ? `/proc/self/fd/${fd}` : path, close: () => closeSync(fd) }
}

/**
 * The folder `path` below `root`.
 * @returns undefined where there is none, or a link is on the way
 */
export function pinBelow(root: string, path: string): Pinned | undefined {
  let pinned = pin(root)
  for (const part of path === '' ? [] : path.split('/')) {
    if (!pinned) return undefined
    const above: Pinned = pinned
    try {
      pinned = pin(join(above.path, part))
    } finally {
      above.close()
    }
  }
  return pinned
}

/** Runs `work` with a path that stands for `path` below `root`: its last part may be anything, and is the caller's to guard. */
export function atPath<Result>(root: string, path: string, work: (place: string) => Result): Result | undefined {
  const folder = pinBelow(root, parentOf(path))
  if (!folder) return undefined
  try {
    return work(`${folder.path}/${nameOf(path)}`)
  } finally {
    folder.close()
  }
}

/**
 * Not there, not a folder, a link; or shut to a host that is not root. A name that is too long is there by other bytes: as text, each byte
 * that is no UTF-8 takes three.
 */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'ESTALE', 'ENAMETOOLONG'])

export const isGone = (error: unknown): boolean => GONE.has((error as NodeJS.ErrnoException).code ?? '')

/** Opens files below a root. The folder of the last one is at hand for the next, which is mostly in it. */
export class FilesBelow {
  readonly #root: string
  #near: { readonly path: string; readonly folder: Pinned } | undefined
  #isClosed = false

  constructor(root: string) {
    this.#root = root
  }

  /** As `openFileBelow`. */
  open(path: string): number | undefined {
    // not there: its folder may be another one by now
    return this.#openNear(path) ?? openFileBelow(this.#root, path)
  }

  /** What is opened afterwards is opened all the same. */
  close(): void {
    this.#isClosed = true
    this.#near?.folder.close()
    this.#near = undefined
  }

  #openNear(path: string): number | undefined {
    const folder = this.#folder(parentOf(path))
    try {
      return folder && openRegular(`${folder.path}/${nameOf(path)}`)
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  #folder(path: string): Pinned | undefined {
    if (this.#isClosed || this.#near?.path === path) return this.#near?.folder
    const folder = pinBelow(this.#root, path)
    this.#near?.folder.close()
    this.#near = folder && { path, folder }
    return folder
  }
}

/** Opens a regular file for reading, and nothing else: no FIFO blocks, no device starts. @returns undefined when there is none */
export function openFileBelow(root: string, path: string): number | undefined {
  try {
    return atPath(root, path, openRegular)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** The same at a place whose folder is pinned. */
export function openRegular(place: string): number | undefined {
  if (!LINUX) {
    if (!lstatSync(place).isFile()) return undefined
    return openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  }
  const pinned = openSync(place, O_PATH | constants.O_NOFOLLOW)
  try {
    return fstatSync(pinned).isFile() ? openSync(`/proc/self/fd/${pinned}`, constants.O_RDONLY) : undefined
  } finally {
    closeSync(pinned)
  }
}

const PIECE_BYTES = 256 << 10
/** Of files that are read at once; more have buffers of their own. */
const MOST_IDLE = 32
/** Buffers that no file is read into now. New ones for each file would make the collector look at the whole heap for each few MB of a site. */
const idle: Buffer[] = []

/**
 * The content of an open file as long as it is now, closed at the end; what is appended meanwhile is left for another time, so that
 * a file that grows has an end. To be iterated once, returned, or read and closed as a file. A piece is valid until the next is asked for.
 */
export function contentOf(fd: number): AsyncIterableIterator<Uint8Array> & SourceContent {
  const sizeBytes = fstatSync(fd).size
  let position = 0
  let isOpen = true
  let buffer: Buffer | undefined
  const close = () => {
    if (isOpen) closeSync(fd)
    if (buffer && idle.length < MOST_IDLE) idle.push(buffer)
    buffer = undefined
    isOpen = false
  }
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    close()
    return { done: true, value: undefined }
  }
  return {
    file: { fd, sizeBytes, close },
    async next() {
      if (!isOpen || position >= sizeBytes) return end()
      const piece = buffer ?? idle.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
      // nobody else gets it while it is read into
      buffer = undefined
      const length = Math.min(PIECE_BYTES, sizeBytes - position)
      const { bytesRead } = await read(fd, piece, 0, length, position).catch((error) => {
        close()
        throw error
      })
      buffer = piece
      if (bytesRead === 0) return end()
      position += bytesRead
      return { done: false, value: piece.subarray(0, bytesRead) }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
