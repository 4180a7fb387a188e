import { randomBytes } from 'node:crypto'
import { InOrder } from '../../platform/in-order.ts'
import {
  type BackupFacts,
  type SourceEntry,
  type SourceFile,
  type SourceHandle,
  StorageFailure,
  type StoredEntry,
  type WriteOptions,
} from '../backup-store.ts'
import { type ChunkIndex, loadIndex } from '../chunk-index.ts'
import { fileSizes } from '../format/cutter.ts'
import { type IndexedPack, sealIndex } from '../format/index-object.ts'
import { entryLine, ListingBuilder, partLine } from '../format/listing.ts'
import { factsOf, type Manifest, sealManifest } from '../format/manifest.ts'
import { backupName, indexName, lastPart, type ObjectKind, packName } from '../format/object-names.ts'
import type { Pack } from '../format/pack.ts'
import { findManifest, type RepositoryParts } from '../reading/manifests.ts'
import { ReadingBack } from '../reading/reading-back.ts'
import { SoundPacks } from '../reading/sound-packs.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { type KnownFile, type KnownFiles, knownFiles } from './known-files.ts'
import { hasAll, isWhole } from './whole.ts'
import type { ChunkRef } from './writer-messages.ts'

/** How many small files are open at once, enough that the thread never waits for the next. */
const FILES_AT_ONCE = 64
/** This many large files count the same. The cut part of each is in memory. */
const LARGE_FILES_AT_ONCE = 8

const weigh = (entry: SourceEntry): number =>
  entry.kind === 'file' && entry.sizeBytes > fileSizes.least ? FILES_AT_ONCE / LARGE_FILES_AT_ONCE : 1

/** @throws StorageFailure, and the source's errors */
export async function writeTree(
  parts: RepositoryParts,
  entries: AsyncIterable<SourceEntry>,
  options: WriteOptions,
): Promise<BackupFacts> {
  return write(parts, 'tree', options, async (writing) => {
    const known = await knownFiles(parts, writing.index, options.signal)
    writing.checkPacks(known)
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
    for (const { id, sizeBytes } of await writing.stream(content))
      await writing.line(partLine({ chunk: id, sizeBytes }))
  })
}

async function write(
  parts: RepositoryParts,
  kind: ObjectKind,
  options: WriteOptions,
  work: (writing: Writing) => Promise<void>,
): Promise<BackupFacts> {
  const { signal, name } = options
  signal?.throwIfAborted()
  const index = await loadIndex(parts.storage, parts.keys, signal)
  const complete = await findManifest(parts, name)
  if (complete && (await hasAll(parts, index, complete, signal))) return factsOf(complete)
  // Its writer was held up for long, and died before it noticed that reused packs were gone.
  if (complete) await parts.storage.remove([backupName(parts.keys.owner, name, complete.kind)], signal)
  const writing = new Writing(parts, kind, options, index)
  try {
    await work(writing)
    return await writing.commit()
  } finally {
    await writing.close()
  }
}

/** A backup while it is written. Others see none of it before `commit`. */
class Writing {
  readonly index: ChunkIndex
  readonly #parts: RepositoryParts
  readonly #kind: ObjectKind
  readonly #options: WriteOptions
  readonly #chunks: ChunkWriter
  readonly #listing = new ListingBuilder()
  readonly #listed: string[] = []
  readonly #packs: IndexedPack[] = []
  /** The packs of other backups that it reuses. */
  readonly #used = new Set<string>()
  /** The packs of dead writers that it uses. It adopts them, and reads them back with its own. */
  readonly #adopted = new Set<string>()
  readonly #readingBack: ReadingBack | undefined
  /** Set for a tree. */
  #soundPacks: SoundPacks | undefined
  #doneBytes = 0
  #sizeBytes = 0
  #files = 0
  #addedBytes = 0

  constructor(parts: RepositoryParts, kind: ObjectKind, options: WriteOptions, index: ChunkIndex) {
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

  /** Requires every pack that it reuses from now on to be sound. */
  checkPacks({ checks }: KnownFiles): void {
    const { trustMs = 0, readBack, ...options } = this.#options
    this.#soundPacks = new SoundPacks(this.#parts, this.index, {
      ...options,
      trustMs,
      earlier: checks,
      into: readBack,
      onDamaged: (pack) => this.#chunks.forget(this.index.idsOf(pack)),
    })
  }

  /** @returns the entry as stored; `undefined` when it is gone by now */
  async entry(entry: SourceEntry, known: KnownFiles): Promise<StoredEntry | undefined> {
    if (entry.kind !== 'file') return entry
    const { open, ...facts } = entry
    const same = known.find(entry.path, entry.stamp)
    const isThere = same?.chunks.every((chunk) => this.index.usable(chunk))
    if (same && isThere && (await this.#lean(same.chunks))) {
      this.#progress(same.sizeBytes)
      return this.#kept(facts, same)
    }
    const chunks = await this.#keep(open)
    return chunks && this.#kept(facts, { sizeBytes: sizeOf(chunks), chunks: chunks.map(({ id }) => id) })
  }

  #kept(facts: Omit<SourceFile, 'open'>, content: KnownFile): StoredEntry {
    this.#sizeBytes += content.sizeBytes
    this.#files++
    return { ...facts, ...content }
  }

  /** Reads a file. Reads it again if the storage's copy turns out to be damaged. */
  async #keep(open: SourceFile['open']): Promise<readonly ChunkRef[] | undefined> {
    for (;;) {
      const content = await open()
      if (!content) return undefined
      const chunks = await (content.file ? this.#readFile(content.file) : this.#readPieces(content, 'file'))
      if (await this.#lean(chunks.map(({ id }) => id))) return chunks
    }
  }

  async stream(content: AsyncIterable<Uint8Array>): Promise<readonly ChunkRef[]> {
    const chunks = await this.#readPieces(content, 'stream')
    this.#sizeBytes += sizeOf(chunks)
    this.#noteUse(chunks.map(({ id }) => id))
    return chunks
  }

  async #readFile(file: SourceHandle): Promise<readonly ChunkRef[]> {
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
    const { signal, yieldWhileBusy } = this.#options
    signal?.throwIfAborted()
    await yieldWhileBusy?.()
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
    // A damaged pack gets no index. If this writer dies before the backup is checked, a backup that reuses the pack
    // reads it back.
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
      ...(this.#kind === 'tree' && { checks: await this.#checks() }),
    }
    const object = backupName(keys.owner, name, this.#kind)
    signal?.throwIfAborted()
    const isFirst = await storage.putOnce(object, sealManifest(keys, manifest), signal)
    const standing = isFirst ? manifest : await findManifest(this.#parts, name)
    if (standing && (await isWhole(this.#parts, standing, signal))) return factsOf(standing)
    await storage.remove([object])
    throw new StorageFailure(
      'Data that the backup depends on was removed during the backup. The next attempt writes it again.',
    )
  }

  async close(): Promise<void> {
    await this.#chunks.close()
    await this.#readingBack?.finish()
  }

  #progress(bytes: number): void {
    this.#doneBytes += bytes
    this.#options.onProgress?.(this.#doneBytes)
  }

  /** Returns whether all packs with these chunks are sound. If so, the backup reuses them. */
  async #lean(chunks: readonly string[]): Promise<boolean> {
    const packs = new Set(chunks.flatMap((chunk) => this.index.usable(chunk)?.pack ?? []))
    for (const pack of packs) if (this.#soundPacks && !(await this.#soundPacks.isSound(pack))) return false
    this.#noteUse(chunks)
    return true
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
      if (!this.#soundPacks) this.#readingBack?.add(pack, table)
    }
  }

  /** Returns the checks that the next backup may trust for a while. */
  async #checks(): Promise<NonNullable<Manifest['checks']>> {
    const checks = new Map(this.#soundPacks?.checks)
    const readBack = this.#packs.filter(({ pack }) => this.#readingBack?.sound.has(pack))
    if (readBack.length > 0) {
      const { storage, keys, now } = this.#parts
      const packs = await storage.list(`${keys.owner}/packs/`, this.#options.signal)
      const modified = new Map(packs.map(({ name, modifiedAt }) => [lastPart(name), modifiedAt]))
      for (const { pack } of readBack) checks.set(pack, { at: now(), modifiedAt: modified.get(pack) ?? 0 })
    }
    return Array.from(checks, ([pack, { at, modifiedAt }]) => [pack, at, modifiedAt] as const)
  }

  async #putListing(bytes: Uint8Array): Promise<void> {
    let { id } = await this.#chunks.chunk(bytes)
    while (!(await this.#lean([id]))) id = (await this.#chunks.chunk(bytes)).id
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
