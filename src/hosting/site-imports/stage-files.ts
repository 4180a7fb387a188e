import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ArchiveRefused } from '../archives/unpack-zip.ts'
import { DiskFull } from '../site-directories/disk-space.ts'
import { type ImportFormat, layoutOf, nestedSources, packageFacts, type UnpackedSource } from './layout.ts'
import { unpackSource } from './unpack-source.ts'

/** A file that the owner uploaded. */
export interface ImportSource {
  readonly name: string
  readonly path: string
}

export interface StageOptions {
  readonly maxBytes: number
  readonly maxEntries: number
  /** The disk space that stays free. */
  readonly keepFreeBytes: number
  readonly signal: AbortSignal
  readonly onProgress?: (unpackedBytes: number) => void
}

/** Facts about an import whose files are staged. */
export interface StagedFiles {
  readonly format: ImportFormat
  /** Paths of dumps below the staging folder, the likeliest first. */
  readonly dumps: readonly string[]
  readonly links: number
  /** The versions on the old site, if the archive contains them. */
  readonly wordpress: string | null
  readonly php: string | null
  /** The prefix of its tables. */
  readonly prefix: string | null
  /** The entries of a running old site that are left out, with a few of their paths below `wp-content`. */
  readonly leftOut?: { readonly count: number; readonly paths: readonly string[] }
}

/** Returns the folder where the files of an import are staged. It contains `wp-content` as the site will have it. */
export const contentFolder = (folder: string): string => join(folder, 'content')
const rawOf = (folder: string): string => join(folder, 'raw')

/** The number of bytes between two checks of the disk. */
const LOOK_EACH_BYTES = 64 << 20

/**
 * Unpacks all files of an import, and collects those that belong in `wp-content`. No other process uses the staging
 * folder. It can be called again: it first removes what an earlier call left.
 * @throws ArchiveRefused, DiskFull
 */
export async function stageFiles(
  folder: string,
  sources: readonly ImportSource[],
  options: StageOptions,
): Promise<StagedFiles> {
  const raw = rawOf(folder)
  for (const path of [raw, contentFolder(folder)]) await rm(path, { recursive: true, force: true })
  await mkdir(raw, { recursive: true, mode: 0o700 })
  const unpacked: UnpackedSource[] = []
  const waiting = [...sources]
  const used = { bytes: 0, entries: 0, links: 0 }
  for (let source = waiting.shift(); source; source = waiting.shift()) {
    const into = join(raw, String(unpacked.length))
    await mkdir(into)
    await unpackBounded(source, into, used, options)
    unpacked.push({ name: source.name, folder: into })
    // The files from these are not searched for further archives.
    if (sources.includes(source))
      waiting.push(...(await nestedSources(into)).map((path) => ({ name: basename(path), path })))
  }
  const layout = await layoutOf(unpacked)
  if (layout.contents.length === 0) throw new ArchiveRefused('it contains no wp-content folder')
  if (layout.dumps.length === 0) throw new ArchiveRefused('it contains no database dump')
  const facts = await factsOf(layout.root, unpacked, layout.format)
  const content = join(contentFolder(folder), 'wp-content')
  await mkdir(content, { recursive: true, mode: 0o755 })
  const dumps = layout.dumps.map((path) => path.slice(folder.length + 1))
  for (const path of layout.contents) await moveInto(path, content, new Set(layout.dumps))
  return { format: layout.format, dumps, links: used.links, ...facts }
}

async function unpackBounded(
  source: ImportSource,
  into: string,
  used: { bytes: number; entries: number; links: number },
  { maxBytes, maxEntries, keepFreeBytes, signal, onProgress }: StageOptions,
): Promise<void> {
  const room = await freeBytes(into)
  const stopped = new AbortController()
  let lookedAt = 0
  const limits = {
    maxEntries: maxEntries - used.entries,
    maxBytes: Math.max(0, Math.min(maxBytes - used.bytes, room - keepFreeBytes)),
  }
  const look = async () => {
    if ((await freeBytes(into)) < keepFreeBytes) stopped.abort(new DiskFull('The disk of the host is full'))
  }
  try {
    const { files, sizeBytes } = await unpackSource(source.path, into, {
      limits,
      signal: AbortSignal.any([signal, stopped.signal]),
      onLink: () => used.links++,
      onProgress(bytes) {
        onProgress?.(used.bytes + bytes)
        if (bytes < lookedAt + LOOK_EACH_BYTES) return
        lookedAt = bytes
        look().catch(() => {})
      },
    })
    used.bytes += sizeBytes
    used.entries += files
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error
    if (limits.maxBytes < maxBytes - used.bytes && /larger than allowed/.test(error.message))
      throw new DiskFull('The disk of the host is full', { cause: error })
    throw new ArchiveRefused(`${source.name.slice(0, 100)}: ${error.message}`, { cause: error })
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/**
 * Moves the content of one folder into another, and merges folders. Of two files with one name, the one in `to` stays.
 */
async function moveInto(from: string, to: string, except: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (except.has(source)) continue
    if (!existsSync(target)) await rename(source, target)
    else if (entry.isDirectory() && (await stat(target)).isDirectory()) await moveInto(source, target, except)
  }
}

async function factsOf(
  root: string | undefined,
  sources: readonly UnpackedSource[],
  format: ImportFormat,
): Promise<Pick<StagedFiles, 'wordpress' | 'php' | 'prefix'>> {
  if (format === 'wpress') {
    const facts = await packageFacts((sources[0] as UnpackedSource).folder)
    const versionOf = (of: unknown) => shortText((of as { Version?: unknown } | undefined)?.Version)
    return { wordpress: versionOf(facts.WordPress), php: versionOf(facts.PHP), prefix: null }
  }
  const version = root && (await readShortText(join(root, 'wp-includes/version.php')))
  const config =
    root &&
    ((await readShortText(join(root, 'wp-config.php'))) ?? (await readShortText(join(root, '../wp-config.php'))))
  return {
    wordpress: found(version, /\$wp_version\s*=\s*'([\w.-]{1,40})'/),
    php: null,
    prefix: found(config, /^[ \t]*\$table_prefix\s*=\s*['"](\w{1,64})['"]\s*;/m),
  }
}

const MOST_TEXT_BYTES = 1 << 20

/** @returns undefined when the file does not exist or is too long */
export async function readShortText(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isFile() && stats.size <= MOST_TEXT_BYTES ? readFile(path, 'utf8') : undefined
}

export const found = (text: string | undefined, pattern: RegExp): string | null =>
  (text && pattern.exec(text)?.[1]) ?? null

const shortText = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w.+~-]{1,60}$/.test(value) ? value : null

/** Deletes the files that are no longer needed once an import is staged. */
export async function dropUnpacked(folder: string): Promise<void> {
  await rm(rawOf(folder), { recursive: true, force: true })
}
