import { createHash } from 'node:crypto'
import type { AddressChange, SitePlace } from '../../site-database/database-content.ts'
import { addressRewriter, type RewriteAddress } from '../../site-database/rewrite-addresses.ts'
import type { FileContent, FileScope, WantedEntry } from '../file-content.ts'
import { isInScope } from '../scope.ts'
import type { WantedFile } from './merge.ts'

/**
 * The folders where themes and plugins keep files that they generate from the database, with the site's address in
 * them. Examples are style sheets of page builders (`uploads/elementor/css`, `et-cache`), joined scripts
 * (`cache/autoptimize`), fonts, and settings.
 */
export const MADE_FILES: FileScope = { paths: ['wp-content/cache', 'wp-content/et-cache', 'wp-content/uploads'] }

const TEXT = /\.(?:css|js|json)$/i
/** The largest file to rewrite. One at a time is in memory, twice. */
const MOST_BYTES = 4 << 20

/**
 * Yields entries of a site for use by another one. In the texts among {@link MADE_FILES} (`.css`, `.js`, `.json`, up to
 * 4 MB), one address replaces another. They are rewritten, not left out, because their plugins check the database, not
 * the disk, for whether a file exists. Each is read once for this, as it passes. All other entries pass as they are.
 */
export async function* readdressed(
  entries: AsyncIterable<WantedEntry>,
  changes: readonly AddressChange[],
): AsyncGenerator<WantedEntry> {
  const rewrite = addressRewriter(changes)
  for await (const entry of entries) yield changes.length > 0 ? await withAddress(entry, rewrite) : entry
}

/** With more than this, everything in their folders is prepared as well. */
const MOST_APART = 100

/**
 * Changes addresses in the files of a site whose PHP does not run. Looks for such files first: most sites have none,
 * and a change would compare everything that was just copied. After an interruption at any point, the same call
 * completes it.
 */
export async function moveMadeFiles(
  files: Pick<FileContent, 'walk' | 'prepare' | 'switch' | 'switchBack' | 'cleanUp'>,
  directory: SitePlace,
  changes: readonly AddressChange[],
  signal?: AbortSignal,
): Promise<void> {
  // Half of them may already be changed, so switch back to find them all.
  await files.switchBack(directory)
  const walk = (scope: FileScope) => files.walk(directory, { scope, ...(signal && { signal }) })
  const paths = await placesOf(walk(MADE_FILES), changes)
  if (paths.length === 0) return
  const within = { scope: paths.length > MOST_APART ? MADE_FILES : { paths }, ...(signal && { signal }) }
  await files.prepare(directory, readdressed(walk(within.scope), changes), within)
  await files.switch(directory)
  await files.cleanUp(directory)
}

/** Returns the paths of files to change. With very many, stops as soon as that is clear. */
async function placesOf(entries: AsyncIterable<WantedEntry>, changes: readonly AddressChange[]): Promise<string[]> {
  const rewrite = addressRewriter(changes)
  const paths: string[] = []
  for await (const entry of entries) {
    if ((await withAddress(entry, rewrite)) !== entry) paths.push(entry.path)
    if (paths.length > MOST_APART) break
  }
  return paths
}

/** @returns the same entry when there is nothing to change */
async function withAddress(entry: WantedEntry, rewrite: RewriteAddress): Promise<WantedEntry> {
  if (entry.kind !== 'file' || !TEXT.test(entry.path) || !isInScope(MADE_FILES, entry.path)) return entry
  const content = entry.sizeBytes <= MOST_BYTES ? await readUpTo(entry, MOST_BYTES) : undefined
  const changed = content && rewrite(content)
  if (!changed || changed === content) return entry
  // The content differs, so its stamp must differ from that of the original.
  const stamp = `${entry.stamp}.${createHash('sha256').update(changed).digest('base64url').slice(0, 16)}`
  return { ...entry, sizeBytes: changed.length, stamp, open: async () => pieces(changed) }
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

/** @returns undefined when the file is gone by now, or has grown over the limit */
async function readUpTo(entry: WantedFile, most: number): Promise<Uint8Array | undefined> {
  const content = await entry.open()
  if (!content) return undefined
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.length
    if (bytes > most) return undefined
    // The source reuses its buffer for the next piece.
    read.push(Uint8Array.from(piece))
  }
  return Buffer.concat(read)
}
