import type { StoredEntry } from '../backup-store.ts'
import type { ChunkIndex } from '../chunk-index.ts'
import { entriesOf, listedParts } from '../format/listing.ts'
import type { Manifest } from '../format/manifest.ts'
import { lastPart, type Mark, markOf } from '../format/object-names.ts'
import { ChunkLost, ChunkReader } from '../reading/chunk-reader.ts'
import type { RepositoryParts } from '../reading/manifests.ts'

/** A pack with an older mark may already be gone, so everything in it must be written again. See `sweep.ts`. */
const MARK_STANDS_MS = 12 * 3_600_000

/** Returns whether all chunks of a backup are where they can stay. */
export async function hasAll(
  parts: RepositoryParts,
  index: ChunkIndex,
  { listing, kind }: Manifest,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const going = new Set(goingPacks(parts, index.marks))
  const isThere = (chunk: string) => index.locations(chunk).some(({ pack }) => !going.has(pack.id))
  const reader = new ChunkReader(parts, index)
  for (const chunk of listing) {
    if (!isThere(chunk)) return false
    const lines = await reader.read(chunk, signal).catch((error) => {
      if (!(error instanceof ChunkLost)) throw error
      return undefined
    })
    if (!lines) return false
    const chunks =
      kind === 'stream' ? [...listedParts(lines)].map((part) => part.chunk) : [...entriesOf(lines)].flatMap(chunksOf)
    if (!chunks.every(isThere)) return false
  }
  return true
}

const chunksOf = (entry: StoredEntry): readonly string[] => (entry.kind === 'file' ? entry.chunks : [])

/** Returns packs that may be removed at any moment, or are gone. */
const goingPacks = ({ now }: RepositoryParts, marks: readonly Mark[]): string[] =>
  marks.filter(({ since }) => Math.abs(now() - since) > MARK_STANDS_MS).map(({ pack }) => pack)

/**
 * Returns whether no sweep has removed, or is about to remove, packs that a backup reuses. It runs after the manifest
 * is stored, because a later sweep sees that the packs are needed.
 */
export async function isWhole(
  parts: RepositoryParts,
  manifest: Manifest,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { storage, keys } = parts
  const needed = [...manifest.packs, ...manifest.leansOn]
  if (needed.length === 0) return true
  const there = new Set((await storage.list(`${keys.owner}/packs/`, signal)).map(({ name }) => lastPart(name)))
  const marks = (await storage.list(`${keys.owner}/marks/`, signal)).flatMap(({ name }) => markOf(name) ?? [])
  const going = new Set(goingPacks(parts, marks))
  return needed.every((pack) => there.has(pack) && !going.has(pack))
}
