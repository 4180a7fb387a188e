/**
 * Host-side access to files of a site without ever following a link.
 *
 * A site's PHP is hostile and runs while we look: it may swap any folder or file below its home for a symbolic link at any
 * moment, and the host process may be root. So a path is never trusted after it was checked; only what was opened is:
 *
 * - Linux: the path is opened with `O_PATH`, which touches nothing (a FIFO does not block, a device is not started), then
 *   the kernel is asked where the opened thing lies (`/proc/self/fd/N`). Only if that is letter for letter the asked path is
 *   the very same inode opened for reading, through its descriptor. There is no moment between check and use.
 * - Elsewhere: realpath before, `O_NOFOLLOW`, and the same device and inode after. A weaker fence, for developers' machines.
 */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { LRUCache } from 'lru-cache'

/** `O_PATH` of Linux on every architecture that Node supports; Node does not export it. */
const O_PATH = 0o10000000
const LINUX = process.platform === 'linux'

/** What lies at a path inside a root. `close()` it, whatever happens. */
export interface Found {
  readonly kind: 'file' | 'directory'
  readonly stats: Stats
  /** Opens the found file for reading: the same inode, whatever lies at the path by now. */
  read(): Promise<FileHandle>
  /** A path that leads to the found thing itself, valid until `close()`; for folders: `${path}/name` needs no look at its parents. */
  readonly path: string
  close(): Promise<void>
}

/** An open regular file, to be closed by the caller. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

/**
 * Looks at `path` below `root` without following any link below `root`.
 *
 * `root` is a folder that hostile code cannot rename or replace (a site's home, a core), given as an absolute path; links
 * above it are the operator's and fine. `path` is relative, `/`-separated, without empty, `.` or `..` parts; `''` is the root itself.
 *
 * @returns undefined when there is nothing, when a link is on the way, or when it is neither regular file nor directory.
 * @throws RangeError for a malformed path, and the system's error for anything but "not there".
 */
export async function lookInside(root: string, path: string): Promise<Found | undefined> {
  const relative = checked(path)
  try {
    const expected = join(await canonicalRoot(root), relative)
    return LINUX ? await lookByDescriptor(expected) : await lookByRealPath(expected)
  } catch (error) {
    return undefinedIfNotThere(error)
  }
}

/**
 * Opens a regular file below `root` for reading; arguments and errors as in `lookInside`.
 * @returns undefined when there is no such regular file, or a link is on the way.
 */
export async function openInside(root: string, path: string): Promise<OpenFile | undefined> {
  const found = await lookInside(root, path)
  if (!found) return undefined
  try {
    return found.kind === 'file' ? { handle: await found.read(), stats: found.stats } : undefined
  } catch (error) {
    return undefinedIfNotThere(error)
  } finally {
    await found.close()
  }
}

/**
 * Runs `work` with a path that stands for the folder `path` below `root` itself, so that `${folder}/name` reaches its entries
 * even when the folder is moved or swapped meanwhile. The last part is the caller's to guard: use calls that do not follow
 * links (`lstat`, `unlink`, `rename`, `mkdir`, `lchown`, `open` with `O_NOFOLLOW` and, for new files, `O_EXCL`).
 * @returns what `work` returns, or undefined when there is no such folder or a link is on the way.
 */
export async function inFolder<Result>(
  root: string,
  path: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result | undefined> {
  const found = await lookInside(root, path)
  if (!found) return undefined
  try {
    return found.kind === 'directory' ? await work(found.path) : undefined
  } finally {
    await found.close()
  }
}

/** ELOOP: a link; EACCES: the host runs as a user that the site shut out; ENXIO: a socket; ENAMETOOLONG: a long address. */
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

/** Roots do not move while Stead runs, and realpath costs as much as all the rest of a look. */
const canonicalRoots = new LRUCache<string, string>({ max: 10_000 })

async function canonicalRoot(root: string): Promise<string> {
  const known = canonicalRoots.get(root)
  if (known) return known
  const canonical = await realpath(root)
  canonicalRoots.set(root, canonical)
  return canonical
}

async function lookByDescriptor(expected: string): Promise<Found | undefined> {
  const pin = await open(expected, O_PATH | constants.O_NOFOLLOW)
  let keep = false
  try {
    const self = `/proc/self/fd/${pin.fd}`
    // A link opened with O_PATH|O_NOFOLLOW is the link itself; its place is right but its kind is not.
    if ((await readlink(self)) !== expected) return undefined
    const stats = await pin.stat()
    const kind = kindOf(stats)
    if (!kind) return undefined
    keep = true
    return { kind, stats, path: self, read: () => open(self, constants.O_RDONLY), close: () => pin.close() }
  } finally {
    if (!keep) await pin.close()
  }
}

async function lookByRealPath(expected: string): Promise<Found | undefined> {
  if ((await realpath(expected)) !== expected) return undefined
  const stats = await lstat(expected)
  const kind = kindOf(stats)
  if (!kind) return undefined
  return { kind, stats, path: expected, read: () => readSame(expected, stats), close: async () => {} }
}

async function readSame(path: string, seen: Stats): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  const opened = await handle.stat()
  const real = await stat(await realpath(path))
  if (opened.ino === seen.ino && opened.dev === seen.dev && real.ino === seen.ino) return handle
  await handle.close()
  throw Object.assign(new Error('file was replaced while it was opened'), { code: 'ENOENT' })
}

function kindOf(stats: Stats): 'file' | 'directory' | undefined {
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'directory' : undefined
}
