import { randomBytes } from 'node:crypto'
import { InOrder } from '../../platform/in-order.ts'
import {
  type BackupFacts,
  type OpenFile,
  type SourceContent,
  type SourceEntry,
  StorageFailure,
  type StoredEntry,
  type WriteOptions,
} from '../backup-store.ts'
import { type ChunkIndex, loadIndex } from '../chunk-index.ts'
import { fileSizes } from '../format/cutter.ts'
import { type IndexedPack, sealIndex } from '../format/index-object.ts'
import { entriesOf, entryLine, ListingBuilder, partLine, partsOf } from '../format/listing.ts'
import { factsOf, type Manifest, sealManifest } from '../format/manifest.ts'
import { backupName, indexName, type Kind, lastPart, type Mark, markOf, packName } from '../format/names.ts'
import type { Pack } from '../format/pack.ts'
import { ChunkLost, ChunkReader } from '../reading/chunk-reader.ts'
import { findManifest, type RepositoryParts } from '../reading/manifests.ts'
import { ReadingBack } from '../reading/reading-back.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { type KnownFiles, knownFiles } from './known-files.ts'
import type { ChunkRef } from './protocol.ts'

/** A mark of a pack that is older stands for one that may be gone already: what leans on it must be written anew. See `sweep.ts`. */
export const MARK_STANDS_MS = 12 * 3_600_000

/** Small files that are open at once: so many that the thread never waits for the next. */
const FILES_AT_ONCE = 64
/** Of large ones as many as this are as much. What is cut of each is in memory. */
const LARGE_FILES_AT_ONCE = 8

const weigh = (entry: SourceEntry): number =>
  entry.kind === 'file' && entry.sizeBytes > fileSizes.least ? FILES_AT_ONCE / LARGE_FILES_AT_ONCE : 1

/** @throws StorageFailure; whatever the source throws */
export async function writeTree(
  parts: RepositoryParts,
  entries: AsyncIterable<SourceEntry>,
  options: WriteOptions,
): Promise<BackupFacts> {
  return write(parts, 'tree', options, async (writing) => {
    const known = await knownFiles(parts, writing.index, options.signal)
    const reading = new InOrder(FILES_AT_ONCE)
    try {
      for await (const entry of entries)
        await reading.begin(weigh(entry), writing.entry(entry, known), async (stored) => {
          options.signal?.throwIfAborted()
          if (stored) await writing.line(entryLine(stored))
        })
      await reading.end()
    } finally {
      await reading.settle()
    }
  })
}

export async function writeStream(
  parts: RepositoryParts,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<BackupFacts> {
  return write(parts, 'stream', options, async (writing) => {
    for (const { id, sizeBytes } of await writing.read(content, 'stream'))
      await writing.line(partLine({ chunk: id, sizeBytes }))
  })
}

async function write(
  parts: RepositoryParts,
  kind: Kind,
  options: WriteOptions,
  work: (writing: Writing) => Promise<void>,
): Promise<BackupFacts> {
  const { signal, name } = options
  signal?.throwIfAborted()
  const index = await loadIndex(parts.storage, parts.keys, signal)
  const complete = await findManifest(parts, name)
  if (complete && (await hasAll(parts, index, complete, signal))) return factsOf(complete)
  // its writer was held up for long, and died before it saw that what it leant on was gone
  if (complete) await parts.storage.remove([backupName(parts.keys.owner, name, complete.kind)], signal)
  const writing = new Writing(parts, kind, options, index)
  try {
    await work(writing)
    return await writing.commit()
  } finally {
    await writing.close()
  }
}

/** One backup while it is written. Nothing of it is seen by others before `commit`. */
class Writing {
  readonly index: ChunkIndex
  readonly #parts: RepositoryParts
  readonly #kind: Kind
  readonly #options: WriteOptions
  readonly #chunks: ChunkWriter
  readonly #listing = new ListingBuilder()
  readonly #listed: string[] = []
  readonly #packs: IndexedPack[] = []
  /** Packs of others that it leans on. */
  readonly #used = new Set<string>()
  /** What somebody has left who died, as far as it is used: it is this backup's own, to be read back with it. */
  readonly #adopted = new Set<string>()
  readonly #readingBack: ReadingBack | undefined
  #doneBytes = 0
  #sizeBytes = 0
  #files = 0
  #addedBytes = 0

  constructor(parts: RepositoryParts, kind: Kind, options: WriteOptions, index: ChunkIndex) {
    this.#parts = parts
    this.#kind = kind
    this.#options = options
    this.index = index
    if (options.readBack) this.#readingBack = new ReadingBack(parts, { ...options, into: options.readBack })
    this.#chunks = new ChunkWriter({
      keys: parts.keys,
      known: index.usableIds(),
      onPack: (pack) => this.#putPack(pack),
    })
  }

  /** @returns the thing as it is kept; `undefined` when it is gone by now */
  async entry(entry: SourceEntry, known: KnownFiles): Promise<StoredEntry | undefined> {
    if (entry.kind !== 'file') return entry
    const { open, ...facts } = entry
    const same = known.find(entry.path, entry.stamp)
    const chunks = same ? this.#lean(same.chunks) : undefined
    if (same && chunks) {
      this.#progress(same.sizeBytes)
      this.#sizeBytes += same.sizeBytes
      this.#files++
      return { ...facts, sizeBytes: same.sizeBytes, chunks }
    }
    const content = await open()
    if (!content) return undefined
    const read = await this.read(content, 'file')
    this.#files++
    return { ...facts, sizeBytes: sizeOf(read), chunks: read.map(({ id }) => id) }
  }

  async read(content: SourceContent, cutting: 'file' | 'stream'): Promise<readonly ChunkRef[]> {
    const chunks = await (content.file ? this.#readFile(content.file) : this.#readPieces(content, cutting))
    this.#sizeBytes += sizeOf(chunks)
    this.#noteUse(chunks.map(({ id }) => id))
    return chunks
  }

  async #readFile(file: OpenFile): Promise<readonly ChunkRef[]> {
    try {
      return await this.#chunks.file(file, (bytes) => this.#before(bytes))
    } finally {
      file.close()
    }
  }

  async #readPieces(content: AsyncIterable<Uint8Array>, cutting: 'file' | 'stream'): Promise<readonly ChunkRef[]> {
    const { write, end } = this.#chunks.content(cutting)
    for await (const piece of content) {
      await this.#before(piece.length)
      await write(piece)
    }
    return end()
  }

  async #before(pieceBytes: number): Promise<void> {
    const { signal, giveWay } = this.#options
    signal?.throwIfAborted()
    await giveWay?.()
    this.#progress(pieceBytes)
  }

  async line(line: string): Promise<void> {
    const chunk = this.#listing.add(line)
    if (chunk) await this.#putListing(chunk)
  }

  async commit(): Promise<BackupFacts> {
    const { storage, keys } = this.#parts
    const { name, signal } = this.#options
    const rest = this.#listing.end()
    if (rest) await this.#putListing(rest)
    await this.#chunks.finish()
    this.#adopt()
    await this.#readingBack?.end()
    // one that was not what was written has no index: whoever leans on it reads it back, should this writer die before it is looked at
    const indexed = this.#packs.filter(({ pack }) => !this.#readingBack?.unsound.has(pack))
    if (indexed.length > 0) {
      const index = randomBytes(16).toString('hex')
      const sealed = sealIndex(keys, index, indexed)
      this.#addedBytes += sealed.length
      await storage.put(indexName(keys.owner, index), sealed, signal)
    }
    const manifest: Manifest = {
      name,
      kind: this.#kind,
      sizeBytes: this.#sizeBytes,
      files: this.#files,
      addedBytes: this.#addedBytes,
      createdAt: this.#parts.now(),
      listing: this.#listed,
      packs: this.#packs.map(({ pack }) => pack),
      leansOn: [...this.#used],
    }
    const object = backupName(keys.owner, name, this.#kind)
    signal?.throwIfAborted()
    const isFirst = await storage.putOnce(object, sealManifest(keys, manifest), signal)
    const standing = isFirst ? manifest : await findManifest(this.#parts, name)
    if (standing && (await isWhole(this.#parts, standing, signal))) return factsOf(standing)
    await storage.remove([object])
    throw new StorageFailure(
      'What the backup leans on was removed while it was written. Another attempt writes it anew.',
    )
  }

  async close(): Promise<void> {
    await this.#chunks.close()
    await this.#readingBack?.settle()
  }

  #progress(bytes: number): void {
    this.#doneBytes += bytes
    this.#options.onProgress?.(this.#doneBytes)
  }

  /** @returns the chunks, when all of them are there for a new backup */
  #lean(chunks: readonly string[]): readonly string[] | undefined {
    if (!chunks.every((chunk) => this.index.usable(chunk))) return undefined
    this.#noteUse(chunks)
    return chunks
  }

  #noteUse(chunks: readonly string[]): void {
    for (const chunk of chunks) {
      const known = this.index.usable(chunk)
      if (known) (known.pack.isIndexed ? this.#used : this.#adopted).add(known.pack.id)
    }
  }

  #adopt(): void {
    for (const pack of this.#adopted) {
      const [sizeBytes, table] = [this.index.writtenBytes(pack), this.index.tables.get(pack)]
      if (!table) continue
      this.#packs.push({ pack, sizeBytes, table })
      this.#readingBack?.add(pack, table)
    }
  }

  async #putListing(bytes: Uint8Array): Promise<void> {
    const { id } = await this.#chunks.chunk(bytes)
    this.#noteUse([id])
    this.#listed.push(id)
  }

  async #putPack({ id, bytes, table }: Pack): Promise<void> {
    const { storage, keys } = this.#parts
    const sizeBytes = bytes.length
    await storage.put(packName(keys.owner, id), bytes, this.#options.signal)
    this.#packs.push({ pack: id, sizeBytes, table })
    this.#addedBytes += sizeBytes
    this.#readingBack?.add(id, table)
  }
}

const sizeOf = (chunks: readonly ChunkRef[]): number => chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/** Whether all chunks of a backup are where they can stay. */
async function hasAll(
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
      kind === 'stream' ? [...partsOf(lines)].map((part) => part.chunk) : [...entriesOf(lines)].flatMap(chunksOf)
    if (!chunks.every(isThere)) return false
  }
  return true
}

const chunksOf = (entry: StoredEntry): readonly string[] => (entry.kind === 'file' ? entry.chunks : [])

/** Packs that may be removed at any moment, or are gone. */
const goingPacks = ({ now }: RepositoryParts, marks: readonly Mark[]): string[] =>
  marks.filter(({ since }) => Math.abs(now() - since) > MARK_STANDS_MS).map(({ pack }) => pack)

/**
 * Whether no sweep has taken, or is about to take, what a backup leans on. Asked after its manifest is in place: a sweep that looks later sees
 * that the packs are needed.
 */
async function isWhole(parts: RepositoryParts, manifest: Manifest, signal: AbortSignal | undefined): Promise<boolean> {
  const { storage, keys } = parts
  const needed = [...manifest.packs, ...manifest.leansOn]
  if (needed.length === 0) return true
  const there = new Set((await storage.list(`${keys.owner}/packs/`, signal)).map(({ name }) => lastPart(name)))
  const marks = (await storage.list(`${keys.owner}/marks/`, signal)).flatMap(({ name }) => markOf(name) ?? [])
  const going = new Set(goingPacks(parts, marks))
  return needed.every((pack) => there.has(pack) && !going.has(pack))
}
