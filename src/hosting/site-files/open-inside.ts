/**
 * Gives the host access to files of a site without ever following a link.
 *
 * A site's PHP is hostile and runs during the access. It can swap any folder or file below its site directory for a
 * symbolic link at any moment, and the host process may be root. So this module never trusts a path after a check. It
 * trusts only what it has opened:
 *
 * - Linux: the path is opened with `O_PATH`, which touches nothing: a FIFO does not block, and a device does not start.
 *   Then the kernel reports the real path of the opened file (`/proc/self/fd/N`). Only if that equals the requested
 *   path, letter for letter, is the very same inode opened for reading, through its descriptor. No moment lies between
 *   check and use.
 *   - Elsewhere: realpath before, `O_NOFOLLOW`, and the same device and inode after. A weaker fence, for developers'
 *   machines.
 *
 * The lookup is synchronous, as in nginx: these are system calls on data that the kernel mostly has in memory. Through
 * the thread pool, a 600-byte file from the web server cost 382 µs of CPU. This way it costs 110 µs.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import { declareMemory } from '../../platform/process-memory.ts'

/** Linux's `O_PATH`, the same on every architecture that Node supports. Node does not export it. */
const O_PATH = 0o10000000
const LINUX = process.platform === 'linux'

/** The entry at a path inside a root. Always call `close()`, whatever happens. */
export interface Found {
  readonly kind: 'file' | 'directory'
  readonly stats: Stats
  /**
   * A path that leads to the found entry itself, valid until `close()`. For folders, `${path}/name` needs no check of
   * its parents.
   */
  readonly path: string
  /**
   * Opens the found file for reading: the same inode, whatever is at the path by now. The handle outlives `close()`.
   */
  open(): Promise<FileHandle>
  /** Reads a small piece synchronously. Returns fewer bytes when the file ends before. */
  read(start: number, length: number): Buffer
  /** Closes the entry. Can be called again. */
  close(): void
}

/** An open regular file, which the caller must close. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

/**
 * Looks up `path` below `root` without following any link below `root`.
 *
 * `root` is an absolute path to a folder that hostile code cannot rename or replace (a site directory, a core). Links
 * above it belong to the operator and are fine. `path` is relative and `/`-separated, without empty, `.`, or `..`
 * parts. `''` is the root itself.
 *
 * @returns undefined when nothing is there, when a link is on the way, or when the entry is neither a regular file nor
 * a directory
 * @throws RangeError for a malformed path, and the system's error for anything but a missing entry
 */
export function lookInside(root: string, path: string): Found | undefined {
  const relative = checked(path)
  try {
    const expected = join(canonicalRoot(root), relative)
    return LINUX ? lookByDescriptor(expected) : lookByRealPath(expected)
  } catch (error) {
    return undefinedIfNotThere(error)
  }
}

/**
 * Opens a regular file below `root` for reading. Arguments and errors are as in `lookInside`.
 * @returns undefined when no such regular file exists, or a link is on the way
 */
export async function openInside(root: string, path: string): Promise<OpenFile | undefined> {
  const found = lookInside(root, path)
  if (!found) return undefined
  try {
    return found.kind === 'file' ? { handle: await found.open(), stats: found.stats } : undefined
  } catch (error) {
    return undefinedIfNotThere(error)
  } finally {
    found.close()
  }
}

/**
 * Runs `work` with a path that refers to the folder `path` below `root` itself. `${folder}/name` reaches its entries
 * even when the folder is moved or swapped in the meantime. The caller must guard the last part with calls that follow
 * no links: `lstat`, `unlink`, `rename`, `mkdir`, `lchown`, or `open` with `O_NOFOLLOW` and, for new files, `O_EXCL`.
 * @returns the result of `work`, or undefined when no such folder exists or a link is on the way
 */
export async function inFolder<Result>(
  root: string,
  path: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result | undefined> {
  const found = lookInside(root, path)
  if (!found) return undefined
  try {
    return found.kind === 'directory' ? await work(found.path) : undefined
  } finally {
    found.close()
  }
}

/**
 * ELOOP: a link. EACCES: the site shut out the user that the host runs as. ENXIO: a socket. ENAMETOOLONG: a long
 * address.
 */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'ENAMETOOLONG', 'EILSEQ'])

function undefinedIfNotThere(error: unknown): undefined {
  if (!NOT_THERE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
}

function checked(path: string): string {
  if (path === '') return path
  if (path.includes('\0') || (sep === '\\' && path.includes('\\')))
    throw new RangeError('path holds a forbidden character')
  for (const part of path.split('/'))
    if (part === '' || part === '.' || part === '..') throw new RangeError('path holds an empty, "." or ".." part')
  return path
}

/** Roots do not move while Stead runs, and realpath costs as much as the rest of a lookup. */
const canonicalRoots = new LRUCache<string, string>({ max: 10_000 })
declareMemory(() => canonicalRoots.clear())

function canonicalRoot(root: string): string {
  const known = canonicalRoots.get(root)
  if (known) return known
  const canonical = realpathSync.native(root)
  canonicalRoots.set(root, canonical)
  return canonical
}

function lookByDescriptor(expected: string): Found | undefined {
  const pin = openSync(expected, O_PATH | constants.O_NOFOLLOW)
  const path = `/proc/self/fd/${pin}`
  let isOpen = true
  const close = () => {
    // A second close would hit whatever has the descriptor number by then.
    if (isOpen) closeSync(pin)
    isOpen = false
  }
  try {
    const stats = fstatSync(pin)
    const kind = kindOf(stats)
    // A link is pinned as itself: its location would match, but its kind does not.
    if (kind && readlinkSync(path) === expected) {
      return {
        kind,
        stats,
        path,
        close,
        open: () => open(path, 'r'),
        read: (start, length) => readPiece(openSync(path, 'r'), start, length),
      }
    }
  } catch (error) {
    close()
    throw error
  }
  close()
  return undefined
}

function lookByRealPath(expected: string): Found | undefined {
  if (realpathSync.native(expected) !== expected) return undefined
  const stats = lstatSync(expected)
  const kind = kindOf(stats)
  if (!kind) return undefined
  return {
    kind,
    stats,
    path: expected,
    close() {},
    async open() {
      const handle = await open(expected, SAFE_READ)
      const { ino, dev } = await handle.stat()
      if (ino === stats.ino && dev === stats.dev) return handle
      await handle.close()
      throw replaced()
    },
    read(start, length) {
      const file = openSync(expected, SAFE_READ)
      const { ino, dev } = fstatSync(file)
      if (ino === stats.ino && dev === stats.dev) return readPiece(file, start, length)
      closeSync(file)
      throw replaced()
    },
  }
}

const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const replaced = () => Object.assign(new Error('the file was replaced while it was opened'), { code: 'ENOENT' })

/** Reads a piece and closes the file. */
function readPiece(file: number, start: number, length: number): Buffer {
  try {
    const bytes = Buffer.allocUnsafe(length)
    let done = 0
    while (done < length) {
      const read = readSync(file, bytes, done, length - done, start + done)
      if (read === 0) break
      done += read
    }
    return bytes.subarray(0, done)
  } finally {
    closeSync(file)
  }
}

function kindOf(stats: Stats): 'file' | 'directory' | undefined {
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'directory' : undefined
}
