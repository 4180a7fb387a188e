import { type ChunkIndex, type ChunkLocation, loadIndex } from '../chunk-index.ts'
import { idBytes } from '../format/chunk.ts'
import { packName } from '../format/object-names.ts'
import type { RepositoryParts } from './manifests.ts'
import { ReadingOn } from './read-on.ts'
import { type SoundOptions, soundChunks } from './sound-chunks.ts'

/** A chunk that no pack contains as it was written. */
export class ChunkLost extends Error {
  override readonly name = 'ChunkLost'
}

/** The bytes read from a pack at once, because chunks that were written together are read together. */
const AHEAD_BYTES = 2 << 20
/** How many stretches of packs are kept for the next reads. */
const MOST_STRETCHES = 4
/** An older index may name packs that were merged into others since. */
const INDEX_STANDS_MS = 60_000

interface Found {
  readonly sealed: Buffer
  readonly content: Buffer
}

interface Stretch {
  readonly pack: string
  readonly offset: number
  readonly length: number
  /** Resolves to undefined if the pack does not exist. Several readers may wait for it. */
  readonly bytes: Promise<Buffer | undefined>
}

/** Reads chunks. */
export class ChunkReader {
  /** Packs with damaged content, each of which was marked. */
  readonly #damagedPacks = new Set<string>()
  readonly #parts: RepositoryParts
  #index: ChunkIndex
  #loadedAt: number
  readonly #stretches: Stretch[] = []
  readonly #readingOn: ReadingOn

  constructor(parts: RepositoryParts, index: ChunkIndex) {
    this.#parts = parts
    this.#readingOn = new ReadingOn(parts)
    this.#index = index
    this.#loadedAt = parts.now()
  }

  /**
   * @returns its content, which matches its name.
   * @throws ChunkLost, StorageFailure
   */
  async read(chunk: string, signal?: AbortSignal): Promise<Buffer> {
    return (await this.#find(chunk, signal)).content
  }

  /** Does the same for callers that read content in the order of writing. */
  async readOn(chunk: string, signal?: AbortSignal): Promise<Buffer> {
    return (await this.#readingOn.read(this.#index, chunk, signal)) ?? this.read(chunk, signal)
  }

  /**
   * Returns which of many chunks are what was written, at the first attempt. `read` checks the rest.
   * @throws StorageFailure
   */
  sound(chunks: readonly string[], options: SoundOptions): Promise<Set<string>> {
    const places = chunks.flatMap((chunk) => {
      const [location] = this.#index.locations(chunk)
      return location ? [{ ...location, chunk, pack: location.pack.id }] : []
    })
    return soundChunks(this.#parts, places, options)
  }

  /**
   * Returns the chunk as stored in a pack, after it was opened to check it.
   * @throws ChunkLost, StorageFailure
   */
  async sealed(chunk: string, signal?: AbortSignal): Promise<{ bytes: Buffer; sizeBytes: number }> {
    const { sealed, content } = await this.#find(chunk, signal)
    return { bytes: sealed, sizeBytes: content.length }
  }

  async #find(chunk: string, signal?: AbortSignal): Promise<Found> {
    const found = await this.#tryAll(chunk, signal)
    // An index from before the backup does not contain its chunks.
    const isKnown = this.#index.locations(chunk).length > 0
    if (typeof found !== 'string') return found
    if (isKnown && Math.abs(this.#parts.now() - this.#loadedAt) <= INDEX_STANDS_MS) throw new ChunkLost(found)
    this.#index = await loadIndex(this.#parts.storage, this.#parts.keys, signal)
    this.#loadedAt = this.#parts.now()
    const again = await this.#tryAll(chunk, signal)
    if (typeof again !== 'string') return again
    throw new ChunkLost(again)
  }

  /** Returns the size of the content; `undefined` if it is not known here. */
  sizeOf(chunk: string): number | undefined {
    return this.#index.locations(chunk)[0]?.sizeBytes
  }

  /** @returns the content, or the reason why it is not available */
  async #tryAll(chunk: string, signal?: AbortSignal): Promise<Found | string> {
    let reason = 'is lost'
    for (const location of this.#index.locations(chunk)) {
      const found = await this.#tryOne(chunk, location, signal)
      if (typeof found !== 'string') return found
      reason = found
    }
    return `chunk ${chunk} ${reason}`
  }

  async #tryOne(chunk: string, location: ChunkLocation, signal?: AbortSignal): Promise<Found | string> {
    const { pack, sizeBytes } = location
    // It is read twice, because a transmission error does not recur.
    for (const isAgain of [false, true]) {
      const sealed = await this.#sealed(location, isAgain, signal)
      if (!sealed) break
      const { keys, opener } = this.#parts
      const content = await opener.open({ keys, id: idBytes(chunk), sizeBytes, sealed })
      if (content) return { sealed, content }
      if (!isAgain) continue
      await this.#noteDamage(pack.id)
      return `in pack ${pack.id} is not what was written`
    }
    await this.#noteDamage(pack.id)
    return `is lost: pack ${pack.id} is not there, or is cut off`
  }

  async #noteDamage(pack: string): Promise<void> {
    const isMarked = this.#index.marks.some((mark) => mark.pack === pack && mark.reason === 'damaged')
    if (isMarked || this.#damagedPacks.has(pack)) return
    this.#damagedPacks.add(pack)
    await this.#parts.markDamaged(pack)
  }

  async #sealed(
    { pack, offset, sealedBytes }: ChunkLocation,
    isAgain: boolean,
    signal?: AbortSignal,
  ): Promise<Buffer | undefined> {
    const { storage, keys } = this.#parts
    const get = (length: number) => storage.get(packName(keys.owner, pack.id), { start: offset, length }, signal)
    const isIn = (each: Stretch) =>
      each.pack === pack.id && each.offset <= offset && offset + sealedBytes <= each.offset + each.length
    const getAlone = async () => wholeOf(await get(sealedBytes), 0, sealedBytes)
    if (isAgain) return getAlone()
    let stretch = this.#stretches.find(isIn)
    if (!stretch) {
      const length = Math.max(sealedBytes, AHEAD_BYTES)
      stretch = { pack: pack.id, offset, length, bytes: get(length) }
      this.#keep(stretch)
    }
    return wholeOf(await stretch.bytes, offset - stretch.offset, sealedBytes) ?? getAlone()
  }

  #keep(stretch: Stretch): void {
    this.#stretches.unshift(stretch)
    this.#stretches.length = Math.min(this.#stretches.length, MOST_STRETCHES)
    // The next caller reads from the storage again.
    stretch.bytes.catch(() => {
      const at = this.#stretches.indexOf(stretch)
      if (at >= 0) this.#stretches.splice(at, 1)
    })
  }
}

/** @returns undefined when it is truncated */
const wholeOf = (bytes: Buffer | undefined, start: number, length: number): Buffer | undefined =>
  bytes && bytes.length >= start + length ? bytes.subarray(start, start + length) : undefined
