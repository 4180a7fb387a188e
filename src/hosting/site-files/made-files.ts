import { createHash } from 'node:crypto'
import type { AddressChange } from '../site-database/database-content.ts'
import { addressRewriter, type RewriteAddress } from '../site-database/rewrite.ts'
import type { FileScope, WantedEntry } from './file-content.ts'
import { isInScope } from './scope.ts'

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
  for await (const entry of entries) {
    const isMeant = changes.length > 0 && TEXT.test(entry.path) && isInScope(MADE_FILES, entry.path)
    yield isMeant && entry.kind === 'file' ? await withAddress(entry, rewrite) : entry
  }
}

type WantedFile = Extract<WantedEntry, { kind: 'file' }>

async function withAddress(entry: WantedFile, rewrite: RewriteAddress): Promise<WantedFile> {
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
