import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ArchiveRefused } from '../archives/unpack-zip.ts'
import { LONE_DUMP } from './unpack-source.ts'

/** The kind of archive that is imported, named after the tool that creates it. */
export type ImportFormat = 'wpress' | 'updraftplus' | 'duplicator' | 'files'

/** One uploaded file, and the folder that it was unpacked into. */
export interface UnpackedSource {
  /** The name that its owner gave it. */
  readonly name: string
  readonly folder: string
}

/** The locations of the parts of a site among the unpacked files. */
export interface Layout {
  readonly format: ImportFormat
  /** Folders whose entries belong directly in `wp-content`. */
  readonly contents: readonly string[]
  /** Paths of dumps, the likeliest first. `.gz` is compressed. */
  readonly dumps: readonly string[]
  /** The folder of WordPress, if it is included. */
  readonly root: string | undefined
}

const UPDRAFT_PART = /-(?:plugins|themes|uploads|others|mu-plugins)\d*\.zip$/i
const UPDRAFT_DATABASE = /-db\d*\.gz$/i
const ENCRYPTED = /-db\d*\.gz\.crypt$/i

/** Returns the files of an UpdraftPlus set that need unpacking in turn. A set may come in one archive. */
export async function nestedSources(folder: string): Promise<string[]> {
  const found = await entriesBelow(folder, 3)
  return found.filter((path) => UPDRAFT_PART.test(path) && !path.includes('/wp-content/'))
}

/**
 * Finds the locations of a site's files and its database.
 * @throws ArchiveRefused when they are unclear
 */
export async function layoutOf(sources: readonly UnpackedSource[]): Promise<Layout> {
  const parts = sources.filter(({ name }) => UPDRAFT_PART.test(name))
  if (parts.length > 0) return updraftLayout(sources, parts)
  for (const { folder } of sources) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, LONE_DUMP))) return wpressLayout(folder)
  }
  const roots = await contentFolders(sources)
  const dumps = await dumpsIn(sources)
  const isDuplicator = sources.some(({ folder }) => existsSync(join(folder, 'dup-installer')))
  const [content] = roots
  const root = content && basename(content) === 'wp-content' ? join(content, '..') : undefined
  return { format: isDuplicator ? 'duplicator' : 'files', contents: content ? [content] : [], dumps, root }
}

async function updraftLayout(sources: readonly UnpackedSource[], parts: readonly UnpackedSource[]): Promise<Layout> {
  const others = sources.filter((each) => !parts.includes(each))
  const dumps = others.flatMap(({ name, folder }) => (UPDRAFT_DATABASE.test(name) ? [join(folder, LONE_DUMP)] : []))
  for (const { folder } of others)
    for (const path of await entriesBelow(folder, 3)) {
      if (ENCRYPTED.test(path)) throw new ArchiveRefused('the database is encrypted. Export it without encryption')
      if (UPDRAFT_DATABASE.test(path)) dumps.push(path)
    }
  if (dumps.length === 0) dumps.push(...(await dumpsIn(others)))
  return { format: 'updraftplus', contents: parts.map(({ folder }) => folder), dumps, root: undefined }
}

async function wpressLayout(folder: string): Promise<Layout> {
  const facts = await packageFacts(folder)
  if (facts.Encrypted === true) throw new ArchiveRefused('the archive is encrypted. Export it without a password')
  if ((facts.Compression as { Enabled?: unknown } | undefined)?.Enabled === true)
    throw new ArchiveRefused('its files are compressed one by one. Export it without compression')
  return { format: 'wpress', contents: [folder], dumps: [join(folder, LONE_DUMP)], root: undefined }
}

const MOST_PACKAGE_BYTES = 4 << 20

/** Reads the facts that All-in-One WP Migration records about the site. */
export async function packageFacts(folder: string): Promise<Record<string, unknown>> {
  const path = join(folder, 'package.json')
  if (!existsSync(path) || (await stat(path)).size > MOST_PACKAGE_BYTES) return {}
  try {
    const facts: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof facts === 'object' && facts !== null ? (facts as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

const PARTS = ['plugins', 'themes', 'uploads']
const DEEPEST = 6

/**
 * Finds folders with the content of a `wp-content`.
 * @throws ArchiveRefused when there are two
 */
async function contentFolders(sources: readonly UnpackedSource[]): Promise<string[]> {
  let level = sources.map(({ folder }) => folder)
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth++) {
    const next = (await Promise.all(level.map(foldersIn))).flat()
    const found = next.filter((path) => basename(path) === 'wp-content' && hasParts(path, 1))
    const bare = depth === 0 ? level.filter((path) => hasParts(path, 2)) : []
    const all = found.length > 0 ? found : bare
    if (all.length > 1) {
      const names = all.map((path) => basename(join(path, '..')))
      throw new ArchiveRefused(`it contains several sites (${names.slice(0, 3).join(', ')}). Send one of them`)
    }
    if (all.length === 1) return all
    // Copies that a site has kept inside itself do not count.
    level = next.filter((path) => !['wp-content', 'wp-includes', 'wp-admin', '__MACOSX'].includes(basename(path)))
  }
  return []
}

const hasParts = (path: string, least: number): boolean =>
  PARTS.filter((name) => existsSync(join(path, name))).length >= least

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

const DUMP = /\.sql(?:\.gz)?$/i
/** The places where tools put their dumps, the likeliest first. */
const PLACES = [
  /\/dup-database__[^/]*\.sql$/i,
  /\/dup-installer\/(?:[^/]+\/)*database\.sql$/i,
  /\/database\.sql(?:\.gz)?$/i,
]

async function dumpsIn(sources: readonly UnpackedSource[]): Promise<string[]> {
  const found: { path: string; rank: number; size: number }[] = []
  for (const { folder } of sources)
    for (const path of await entriesBelow(folder, DEEPEST)) {
      if (!DUMP.test(path) || /\/(?:wp-includes|wp-admin|plugins|themes)\//.test(path.slice(folder.length))) continue
      const place = PLACES.findIndex((pattern) => pattern.test(path))
      found.push({ path, rank: place < 0 ? PLACES.length : place, size: (await stat(path)).size })
    }
  return found.toSorted((a, b) => a.rank - b.rank || b.size - a.size).map(({ path }) => path)
}

/** Returns files, down to a depth. */
async function entriesBelow(folder: string, depth: number): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile()) found.push(path)
    else if (entry.isDirectory() && depth > 0 && !/^(?:wp-includes|wp-admin|uploads|plugins|themes)$/.test(entry.name))
      found.push(...(await entriesBelow(path, depth - 1)))
  }
  return found
}
