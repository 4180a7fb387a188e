/**
 * Reaches folders of a site at any depth without ever following a link. Each part is opened itself, through the
 * descriptor of the one above. So neither a swapped folder nor the system's longest path matters. `open-inside.ts`
 * explains why.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, read as readCallback } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SourceContent } from '../../../backups/backup-store.ts'
import { lastName, parentOf } from '../paths.ts'

export const LINUX = process.platform === 'linux'
/**
 * Linux's `O_PATH`, which Node does not export. It opens the entry itself, needs no permission on it, and starts
 * nothing.
 */
export const O_PATH = LINUX ? 0o10000000 : 0
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

const read = promisify(readCallback)

/** An open folder. `${path}/name` reaches its entries, even if the folder is renamed. Call `close()` at the end. */
export interface Pinned {
  readonly path: string
  readonly fd: number
  close(): void
}

/** @returns undefined when it is missing or a link, or not a folder */
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
 * Opens the folder `path` below `root`.
 * @returns undefined when there is none, or a link is on the way
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

/**
 * Runs `work` with a path that refers to `path` below `root`. Its last part may be anything, and the caller must guard
 * it.
 */
export function atPath<Result>(root: string, path: string, work: (place: string) => Result): Result | undefined {
  const folder = pinBelow(root, parentOf(path))
  if (!folder) return undefined
  try {
    return work(`${folder.path}/${lastName(path)}`)
  } finally {
    folder.close()
  }
}

/**
 * The errors for an entry that is missing, is not a folder, or is a link, or that a host without root cannot open. A
 * name that is too long exists under other bytes: as text, each byte that is not UTF-8 takes three.
 */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'ESTALE', 'ENAMETOOLONG'])

export const isGone = (error: unknown): boolean => GONE.has((error as NodeJS.ErrnoException).code ?? '')

/** Opens files below a root. Keeps the folder of the last file open, because the next is mostly in it. */
export class FilesBelow {
  readonly #root: string
  #near: { readonly path: string; readonly folder: Pinned } | undefined
  #isClosed = false

  constructor(root: string) {
    this.#root = root
  }

  /** Opens a file like `openFileBelow`. */
  open(path: string): number | undefined {
    // Not found there: its folder may have been replaced by now.
    return this.#openNear(path) ?? openFileBelow(this.#root, path)
  }

  /** Closes the folder that is kept. Files can still be opened afterwards. */
  close(): void {
    this.#isClosed = true
    this.#near?.folder.close()
    this.#near = undefined
  }

  #openNear(path: string): number | undefined {
    const folder = this.#folder(parentOf(path))
    try {
      return folder && openRegular(`${folder.path}/${lastName(path)}`)
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

/**
 * Opens a regular file for reading, and nothing else: no FIFO blocks, and no device starts.
 * @returns undefined when there is none
 */
export function openFileBelow(root: string, path: string): number | undefined {
  try {
    return atPath(root, path, openRegular)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Opens a regular file at a place whose folder is pinned. */
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
/** The most buffers that are kept for reuse. Further files that are read at once get their own. */
const MOST_IDLE = 32
/**
 * Buffers that are free for reuse. With new ones for each file, the garbage collector would scan the whole heap for
 * every few MB of a site.
 */
const idle: Buffer[] = []

/**
 * Reads the content of an open file up to its current length, and closes it at the end. It leaves out later additions,
 * so that reading a growing file ends. Iterate it once, return it, or read and close it like a file. A piece is valid
 * until you request the next one.
 */
export function contentOfOpenFile(fd: number): AsyncIterableIterator<Uint8Array> & SourceContent {
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
      // No other reader gets the buffer while it is filled.
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
