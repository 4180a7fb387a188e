import { createHash } from 'node:crypto'
import type { AddressChange, SitePlace } from '../../site-database/database-content.ts'
import { addressRewriter, type RewriteAddress } from '../../site-database/rewrite.ts'
import type { FileContent, FileScope, WantedEntry } from '../file-content.ts'
import { isInScope } from '../scope.ts'
import type { WantedFile } from './merge.ts'

/**
 * Where themes and plugins keep what they have made of the database, with the site's address in it: style sheets of page builders
 * (`uploads/elementor/css`, `et-cache`), joined scripts (`cache/autoptimize`), fonts and settings.
 */
export const MADE_FILES: FileScope = { paths: ['wp-content/cache', 'wp-content/et-cache', 'wp-content/uploads'] }

const TEXT = /\.(?:css|js|json)$/i
/** One at a time is in memory, twice. */
const MOST_BYTES = 4 << 20

/**
 * Things of a site as another one is to have them: in the texts among {@link MADE_FILES} (`.css`, `.js`, `.json`, up to 4 MB) one address stands in
 * place of another. They are rewritten and not left out: their makers look into the database whether there is a file, and not on the disk.
 * Each is read for it once, as it is passed; all others pass as they are.
 */
export async function* readdressed(
  entries: AsyncIterable<WantedEntry>,
  changes: readonly AddressChange[],
): AsyncGenerator<WantedEntry> {
  const rewrite = addressRewriter(changes)
  for await (const entry of entries) yield changes.length > 0 ? await withAddress(entry, rewrite) : entry
}

/** More are changed with all that lies beside them. */
const MOST_APART = 100

/**
 * Changes addresses in the files of a site whose PHP does not run. They are looked for first: most sites have none, and a change would compare all of what
 * was just copied. Cut off anywhere, the same call completes it.
 */
export async function moveMadeFiles(
  files: Pick<FileContent, 'walk' | 'prepare' | 'switch' | 'switchBack' | 'cleanUp'>,
  directory: SitePlace,
  changes: readonly AddressChange[],
  signal?: AbortSignal,
): Promise<void> {
  // half of them may have been changed: they are all to be found
  await files.switchBack(directory)
  const walk = (scope: FileScope) => files.walk(directory, { scope, ...(signal && { signal }) })
  const paths = await placesOf(walk(MADE_FILES), changes)
  if (paths.length === 0) return
  const within = { scope: paths.length > MOST_APART ? MADE_FILES : { paths }, ...(signal && { signal }) }
  await files.prepare(directory, readdressed(walk(within.scope), changes), within)
  await files.switch(directory)
  await files.cleanUp(directory)
}

/** Of files that are to be changed; of many no more than tell that they are. */
async function placesOf(entries: AsyncIterable<WantedEntry>, changes: readonly AddressChange[]): Promise<string[]> {
  const rewrite = addressRewriter(changes)
  const paths: string[] = []
  for await (const entry of entries) {
    if ((await withAddress(entry, rewrite)) !== entry) paths.push(entry.path)
    if (paths.length > MOST_APART) break
  }
  return paths
}

/** @returns the very entry where there is nothing to change */
async function withAddress(entry: WantedEntry, rewrite: RewriteAddress): Promise<WantedEntry> {
  if (entry.kind !== 'file' || !TEXT.test(entry.path) || !isInScope(MADE_FILES, entry.path)) return entry
  const content = entry.sizeBytes <= MOST_BYTES ? await readUpTo(entry, MOST_BYTES) : undefined
  const changed = content && rewrite(content)
  if (!changed || changed === content) return entry
  // another content: what knows the one by its stamp must not take the other for it
  const stamp = `${entry.stamp}.${createHash('sha256').update(changed).digest('base64url').slice(0, 16)}`
  return { ...entry, sizeBytes: changed.length, stamp, open: async () => pieces(changed) }
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

/** @returns nothing when it is gone by now, or has grown over the bound */
async function readUpTo(entry: WantedFile, most: number): Promise<Uint8Array | undefined> {
  const content = await entry.open()
  if (!content) return undefined
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.length
    if (bytes > most) return undefined
    // it is filled anew with what follows
    read.push(Uint8Array.from(piece))
  }
  return Buffer.concat(read)
}
