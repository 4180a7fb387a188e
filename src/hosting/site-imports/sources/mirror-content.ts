import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, statfs, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { whyLeftBehind } from '../left-behind.ts'
import type { StageOptions } from '../stage-files.ts'
import { type FileSink, type OldSite, OldSiteRefused, type RemoteEntry, type RemoteFile } from './old-site.ts'

export interface MirrorOptions extends StageOptions {
  /** The folder for incomplete files, on the same disk. */
  readonly parts: string
}

/** The result of one pass. */
export interface Mirrored {
  /** All files of the old site, and the part that was fetched in this pass. */
  readonly files: number
  readonly bytes: number
  readonly fetchedFiles: number
  readonly fetchedBytes: number
  readonly links: number
  /**
   * A few paths of the entries left out: links, names that cannot be kept, and files that the old machine does not
   * show.
   */
  readonly leftOut: readonly string[]
  readonly leftOutCount: number
}

/** The number of folders that are listed in one request. */
const BATCH_FOLDERS = 100
const DEEPEST = 60
const MOST_SHOWN = 5
/** The number of bytes between two checks of the disk. */
const LOOK_EACH_BYTES = 64 << 20

/**
 * Mirrors the `wp-content` of the old site into `into`. Keeps a file with the same size and time, and removes what the
 * old site does not have. So a second pass fetches only changes, and a pass after a failure only what is missing. Never
 * creates links.
 * @throws OldSiteRefused, OldSiteLost, DiskFull
 */
export async function mirrorContent(
  old: Pick<OldSite, 'list' | 'fetch'>,
  into: string,
  options: MirrorOptions,
): Promise<Mirrored> {
  for (const path of [into, options.parts]) await mkdir(path, { recursive: true, mode: 0o755 })
  const pass = new Pass(into, options)
  const waiting = ['']
  while (waiting.length > 0) {
    options.signal.throwIfAborted()
    const batch = waiting.splice(-BATCH_FOLDERS)
    const asked = new Set(batch)
    const wanted: RemoteFile[] = []
    for await (const { path, entries } of old.list(batch)) {
      if (!asked.delete(path)) throw new OldSiteRefused('The old site answered with a folder that was not asked for')
      if (entries === undefined) {
        if (path === '') throw new OldSiteRefused('The wp-content folder of the old site cannot be read')
        pass.leaveOut(path)
      } else await pass.folder(path, entries, { waiting, wanted })
    }
    if (asked.size > 0) throw new OldSiteRefused('The old site left out folders that were asked for')
    for (const path of await old.fetch(wanted, (file) => pass.sink(file))) pass.leaveOut(path)
  }
  await rm(options.parts, { recursive: true, force: true })
  return pass.result()
}

class Pass {
  readonly #into: string
  readonly #options: MirrorOptions
  readonly #leftOut: string[] = []
  #entries = 0
  #leftOutCount = 0
  #sums = { files: 0, bytes: 0, fetchedFiles: 0, fetchedBytes: 0, links: 0 }
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(into: string, options: MirrorOptions) {
    this.#into = into
    this.#options = options
  }

  result = (): Mirrored => ({ ...this.#sums, leftOut: this.#leftOut, leftOutCount: this.#leftOutCount })

  leaveOut(path: string): void {
    this.#leftOutCount++
    if (this.#leftOut.length < MOST_SHOWN) this.#leftOut.push(path.slice(0, 200))
  }

  async folder(
    path: string,
    entries: readonly RemoteEntry[],
    found: { waiting: string[]; wanted: RemoteFile[] },
  ): Promise<void> {
    const { maxBytes, maxEntries } = this.#options
    this.#entries += entries.length
    if (this.#entries > maxEntries)
      throw new OldSiteRefused(`The old site has more than the ${maxEntries} files and folders allowed`)
    const here = join(this.#into, path)
    const before = new Set(await readdir(here))
    const kept = new Set<string>()
    for (const entry of entries) {
      const at = path === '' ? entry.name : `${path}/${entry.name}`
      const kind = this.#kindOf(entry, at, kept)
      if (kind === undefined) continue
      kept.add(entry.name)
      if (kind === 'folder') {
        await this.#makeFolder(join(here, entry.name))
        // The plan lists the folder, but its content is not worth fetching.
        if (isWorthFetching(at)) found.waiting.push(at)
        continue
      }
      const file = { path: at, sizeBytes: entry.sizeBytes, changedAt: entry.changedAt }
      this.#sums.files++
      this.#sums.bytes += file.sizeBytes
      if (this.#sums.bytes > maxBytes)
        throw new OldSiteRefused(
          `The wp-content of the old site has more than the ${Math.floor(maxBytes / 2 ** 20)} MB allowed`,
        )
      if (!isSame(await statsOf(join(here, entry.name)), file)) found.wanted.push(file)
    }
    for (const name of before) if (!kept.has(name)) await rm(join(here, name), { recursive: true, force: true })
  }

  #kindOf(entry: RemoteEntry, at: string, kept: ReadonlySet<string>): 'file' | 'folder' | undefined {
    if (entry.kind === 'link') this.#sums.links++
    const isPlain = entry.kind === 'file' || entry.kind === 'folder'
    const isSized = isCount(entry.sizeBytes, Number.MAX_SAFE_INTEGER) && isCount(entry.changedAt, MOST_SECONDS)
    if (isPlain && isSized && isKeepable(entry.name, at) && !kept.has(entry.name))
      return entry.kind as 'file' | 'folder'
    this.leaveOut(at)
    return undefined
  }

  async #makeFolder(path: string): Promise<void> {
    const stats = await statsOf(path)
    if (stats && !stats.isDirectory()) await rm(path)
    await mkdir(path, { recursive: true, mode: 0o755 })
  }

  /** Opens a temporary file for `file` until it is complete. Continues with the bytes that an earlier attempt wrote. */
  async sink(file: RemoteFile): Promise<FileSink> {
    const { parts, signal, onProgress } = this.#options
    await this.#lookAtDisk(file.sizeBytes)
    const key = createHash('sha256')
      .update(JSON.stringify([file.path, file.sizeBytes, file.changedAt]))
      .digest('hex')
    const part = join(parts, key)
    const handle = await open(part, 'a', 0o644)
    const at = (await handle.stat()).size
    let written = at
    return {
      at,
      write: async (piece) => {
        signal.throwIfAborted()
        if (written + piece.length > file.sizeBytes)
          throw new OldSiteRefused(`The old site sent more of ${JSON.stringify(file.path.slice(0, 200))} than it has`)
        await handle.writeFile(piece)
        written += piece.length
        this.#sums.fetchedBytes += piece.length
        onProgress?.(this.#sums.fetchedBytes)
      },
      finish: async () => {
        await handle.close()
        const to = join(this.#into, file.path)
        await utimes(part, file.changedAt, file.changedAt)
        const stats = await statsOf(to)
        if (stats?.isDirectory()) await rm(to, { recursive: true })
        await mkdir(dirname(to), { recursive: true, mode: 0o755 })
        await rename(part, to)
        this.#sums.fetchedFiles++
      },
      close: () => handle.close(),
    }
  }

  async #lookAtDisk(sizeBytes: number): Promise<void> {
    const { fetchedBytes } = this.#sums
    if (sizeBytes < LOOK_EACH_BYTES && fetchedBytes < this.#lookedAt + LOOK_EACH_BYTES) return
    this.#lookedAt = fetchedBytes
    const { bavail, bsize } = await statfs(this.#into)
    if (bavail * bsize - sizeBytes < this.#options.keepFreeBytes) throw new DiskFull('The disk of the host is full')
  }
}

/**
 * Returns whether a path is worth fetching. Caches are generated again, and backups that the site keeps of itself are
 * not imported. Both may be larger than the site.
 */
function isWorthFetching(path: string): boolean {
  const reason = whyLeftBehind(path)
  return reason !== 'cache' && reason !== 'backup'
}

// Archives must not have backslashes and control characters either. U+FFFD replaces bytes that are not UTF-8, so a
// request cannot name the file.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ODD = /[/\\\u0000-\u001f\u007f\ufffd]/

/** The largest time that a file system can store. */
const MOST_SECONDS = 2 ** 33
const isCount = (value: number, most: number): boolean => Number.isSafeInteger(value) && value >= 0 && value <= most

const isKeepable = (name: string, path: string): boolean =>
  name !== '' &&
  name !== '.' &&
  name !== '..' &&
  !ODD.test(name) &&
  Buffer.byteLength(name) <= 255 &&
  path.split('/').length <= DEEPEST &&
  Buffer.byteLength(path) <= 2000

async function statsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    return undefined
  })
}

const isSame = (stats: Stats | undefined, { sizeBytes, changedAt }: RemoteFile): boolean =>
  stats?.isFile() === true && stats.size === sizeBytes && Math.floor(stats.mtimeMs / 1000) === changedAt
