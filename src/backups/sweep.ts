import { randomBytes } from 'node:crypto'
import { BackupDamaged } from './backup-store.ts'
import { type ChunkIndex, loadIndex, type PackState } from './chunk-index.ts'
import { idBytes } from './format/chunk.ts'
import { type IndexedPack, sealIndex } from './format/index-object.ts'
import { entriesOf, listedParts } from './format/listing.ts'
import { indexName, type MarkReason, markName, packName } from './format/object-names.ts'
import { PackBuilder } from './format/pack.ts'
import { ChunkLost, ChunkReader } from './reading/chunk-reader.ts'
import { listBackupObjects, type RepositoryParts, readManifest } from './reading/manifests.ts'

/**
 * How long a pack is marked before it is removed. This is twice as long as a running writer may reuse packs that were
 * marked in the meantime.
 */
const MARKED_MS = 24 * 3_600_000
/** A sweep that was held up for longer has outdated information, and must not remove anything. */
const SWEEP_STANDS_MS = 3_600_000
/** Few, because the time is checked before each group. Many, because a control reads all headers for each group. */
const REMOVED_AT_ONCE = 32

/** Packs that are needed less than this are rewritten. */
const LEAST_NEEDED = 0.5
/** Smaller packs are merged when there are this many of them. */
const SMALL_BYTES = 4 << 20
const MANY_SMALL = 16
/** The most bytes that one sweep rewrites. */
const MOST_REPACKED_BYTES = 256 << 20
/** The number of indexes that are merged, because every reader reads each of them. */
const MANY_INDEXES = 8

/**
 * Removes everything that no backup needs. It removes only packs that were marked a day before, and are still not
 * needed. docs/design/backups.md explains why that is safe alongside writers, and alongside another sweep.
 * @throws BackupDamaged when the needed chunks cannot be determined; then nothing is removed
 */
export async function sweep(parts: RepositoryParts, signal?: AbortSignal): Promise<{ freedBytes: number }> {
  const begunAt = parts.now()
  const index = await loadIndex(parts.storage, parts.keys, signal)
  const needed = await neededOfPacks(parts, index, signal)
  const freedBytes = await clearMarks(parts, { index, needed, begunAt, signal })
  await repack(parts, { index, needed, begunAt, signal })
  await mergeIndexes(parts, signal)
  return { freedBytes }
}

/** The chunks that backups need, by the pack that they are read from. */
type Needed = ReadonlyMap<string, readonly string[]>

interface Swept {
  readonly index: ChunkIndex
  readonly needed: Needed
  readonly begunAt: number
  readonly signal: AbortSignal | undefined
}

/**
 * Marks unneeded packs, unmarks needed ones, and removes packs that were marked long enough.
 * @returns the number of removed bytes
 */
async function clearMarks(parts: RepositoryParts, { index, needed, begunAt, signal }: Swept): Promise<number> {
  const { storage, keys, now } = parts
  const expired: PackState[] = []
  for (const pack of index.packs.values()) {
    signal?.throwIfAborted()
    const marks = index.marks.filter((each) => each.pack === pack.id)
    if (needed.has(pack.id)) {
      const wrong = marks.filter(({ reason }) => reason === 'unneeded').map(({ name }) => name)
      if (wrong.length > 0) await storage.remove(wrong, signal)
    } else if (marks.length === 0) await mark(parts, pack, begunAt, 'unneeded')
    else if (marks.some(({ since }) => begunAt - since >= MARKED_MS)) expired.push(pack)
  }
  let freedBytes = 0
  for (let at = 0; at < expired.length; at += REMOVED_AT_ONCE) {
    signal?.throwIfAborted()
    if (Math.abs(now() - begunAt) > SWEEP_STANDS_MS) break
    const group = expired.slice(at, at + REMOVED_AT_ONCE)
    const names = group.map(({ id }) => packName(keys.owner, id))
    await storage.remove(names, signal)
    freedBytes += group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }
  // The marks of removed packs follow them, so that an interrupted sweep can be resumed.
  const left = index.marks.filter(({ pack }) => !index.packs.has(pack)).map(({ name }) => name)
  if (left.length > 0) await storage.remove(left, signal)
  return freedBytes
}

async function mark(
  { storage, keys }: RepositoryParts,
  pack: PackState,
  since: number,
  reason: MarkReason,
): Promise<void> {
  await storage.put(markName(keys.owner, { pack: pack.id, since, reason }), Buffer.from(`${reason}\n`))
}

/** Moves needed chunks from small or mostly unneeded packs into new packs, and marks the old ones. */
async function repack(parts: RepositoryParts, { index, needed, begunAt, signal }: Swept): Promise<void> {
  const { storage, keys } = parts
  const chosen = packsToRepack(index, needed)
  if (chosen.length === 0) return
  const reader = new ChunkReader(parts, index)
  const builder = new PackBuilder(keys)
  const written: IndexedPack[] = []
  const close = async () => {
    const { id, bytes, table } = builder.close()
    await storage.put(packName(keys.owner, id), bytes, signal)
    written.push({ pack: id, sizeBytes: bytes.length, table })
  }
  const emptied: { pack: PackState; reason: MarkReason }[] = []
  for (const pack of chosen) {
    let reason: MarkReason = 'unneeded'
    for (const chunk of needed.get(pack.id) ?? []) {
      const sealed = await reader.sealed(chunk, signal).catch((error) => {
        if (!(error instanceof ChunkLost)) throw error
        return undefined
      })
      // An unreadable chunk stays in its pack.
      if (!sealed) reason = 'damaged'
      else builder.add(idBytes(chunk), [sealed.bytes], sealed.sizeBytes)
      if (builder.isFull) await close()
    }
    emptied.push({ pack, reason })
  }
  if (!builder.isEmpty) await close()
  if (written.length > 0) {
    const name = randomBytes(16).toString('hex')
    await storage.put(indexName(keys.owner, name), sealIndex(keys, name, written), signal)
  }
  for (const { pack, reason } of emptied) await mark(parts, pack, begunAt, reason)
}

function packsToRepack(index: ChunkIndex, needed: Needed): PackState[] {
  const neededBytes = ({ id }: PackState) =>
    (needed.get(id) ?? []).reduce((sum, chunk) => sum + (index.locations(chunk)[0]?.sealedBytes ?? 0), 0)
  const packs = [...index.packs.values()]
    .filter((pack) => !pack.isMarked && needed.has(pack.id))
    .map((pack) => ({ pack, bytes: neededBytes(pack) }))
  const small = packs.filter(({ pack }) => pack.sizeBytes < SMALL_BYTES)
  const areMany = small.length >= MANY_SMALL
  let most = MOST_REPACKED_BYTES
  return packs
    .filter(({ pack, bytes }) => bytes < LEAST_NEEDED * pack.sizeBytes || (areMany && pack.sizeBytes < SMALL_BYTES))
    .filter(({ bytes }) => {
      most -= bytes
      return most >= 0
    })
    .map(({ pack }) => pack)
}

/** Merges many indexes into one. Packs that are written in the meantime have their own index. */
async function mergeIndexes(parts: RepositoryParts, signal: AbortSignal | undefined): Promise<void> {
  const { storage, keys } = parts
  if ((await storage.list(`${keys.owner}/indexes/`, signal)).length < MANY_INDEXES) return
  const index = await loadIndex(storage, keys, signal)
  const packs = [...index.tables].map(([pack, table]) => ({ pack, sizeBytes: index.writtenBytes(pack), table }))
  const name = randomBytes(16).toString('hex')
  await storage.put(indexName(keys.owner, name), sealIndex(keys, name, packs), signal)
  await storage.remove(index.sources, signal)
}

/**
 * Returns the needed chunks by pack. If several packs have a chunk, the first counts, in an order that is the same for
 * every process.
 */
async function neededOfPacks(
  parts: RepositoryParts,
  index: ChunkIndex,
  signal: AbortSignal | undefined,
): Promise<Needed> {
  const packs = new Map<string, string[]>()
  for (const chunk of await neededChunks(parts, index, signal)) {
    const [first] = index.locations(chunk)
    if (!first) continue
    const chunks = packs.get(first.pack.id)
    if (chunks) chunks.push(chunk)
    else packs.set(first.pack.id, [chunk])
  }
  return packs
}

async function neededChunks(
  parts: RepositoryParts,
  index: ChunkIndex,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const needed = new Set<string>()
  const read = new Set<string>()
  const reader = new ChunkReader(parts, index)
  for (const { name, kind } of await listBackupObjects(parts)) {
    signal?.throwIfAborted()
    const manifest = await readManifest(parts, name, kind)
    for (const chunk of manifest?.listing ?? []) {
      needed.add(chunk)
      // Most backups share most of their listing.
      if (read.has(chunk)) continue
      read.add(chunk)
      const listing = await reader.read(chunk, signal).catch((error) => {
        if (!(error instanceof ChunkLost)) throw error
        throw new BackupDamaged(
          `Stead removes nothing, because it cannot determine what backup ${name} of ${parts.keys.owner} needs: ${error.message}.`,
        )
      })
      if (kind === 'stream') for (const part of listedParts(listing)) needed.add(part.chunk)
      else
        for (const entry of entriesOf(listing))
          if (entry.kind === 'file') for (const each of entry.chunks) needed.add(each)
    }
  }
  return needed
}
