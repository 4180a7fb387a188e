import { type ChunkIndex, type Location, loadIndex } from '../chunk-index.ts'
import { idBytes } from '../format/chunk.ts'
import { packName } from '../format/names.ts'
import type { RepositoryParts } from './manifests.ts'
import { ReadingOn } from './read-on.ts'
import { type SoundOptions, soundChunks } from './sound-chunks.ts'

/** A chunk that no pack has as it was written. */
export class ChunkLost extends Error {
  override readonly name = 'ChunkLost'
}

/** Read from a pack at once: what was written one after the other is read one after the other. */
const AHEAD_BYTES = 2 << 20
/** Stretches of packs that are kept for what follows. */
const MOST_STRETCHES = 4
/** An index that is older may name packs that were put together to others since. */
const INDEX_STANDS_MS = 60_000

interface Found {
  readonly sealed: Buffer
  readonly content: Buffer
}

interface Stretch {
  readonly pack: string
  readonly offset: number
  readonly length: number
  /** Undefined: there is no such pack. Several may wait for it. */
  readonly bytes: Promise<Buffer | undefined>
}

/** Reads chunks. */
export class ChunkReader {
  /** Packs that did not hold what they should, each of which was marked. */
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

  /** @returns its content, which is what its name says. @throws ChunkLost, StorageFailure */
  async read(chunk: string, signal?: AbortSignal): Promise<Buffer> {
    return (await this.#find(chunk, signal)).content
  }

  /** The same for who reads content as it was written, one chunk after the other. */
  async readOn(chunk: string, signal?: AbortSignal): Promise<Buffer> {
    return (await this.#readingOn.read(this.#index, chunk, signal)) ?? this.read(chunk, signal)
  }

  /** Which of many chunks are what was written, as far as that is seen at first sight: `read` tells of the rest. @throws StorageFailure */
  sound(chunks: readonly string[], options: SoundOptions): Promise<Set<string>> {
    const places = chunks.flatMap((chunk) => {
      const [location] = this.#index.locations(chunk)
      return location ? [{ ...location, chunk, pack: location.pack.id }] : []
    })
    return soundChunks(this.#parts, places, options)
  }

  /** The chunk as it lies in a pack, after it was opened to see that it is right. @throws ChunkLost, StorageFailure */
  async sealed(chunk: string, signal?: AbortSignal): Promise<{ bytes: Buffer; sizeBytes: number }> {
    const { sealed, content } = await this.#find(chunk, signal)
    return { bytes: sealed, sizeBytes: content.length }
  }

  async #find(chunk: string, signal?: AbortSignal): Promise<Found> {
    const found = await this.#tryAll(chunk, signal)
    // an index from before the backup does not know its chunks
    const isKnown = this.#index.locations(chunk).length > 0
    if (typeof found !== 'string') return found
    if (isKnown && Math.abs(this.#parts.now() - this.#loadedAt) <= INDEX_STANDS_MS) throw new ChunkLost(found)
    this.#index = await loadIndex(this.#parts.storage, this.#parts.keys, signal)
    this.#loadedAt = this.#parts.now()
    const again = await this.#tryAll(chunk, signal)
    if (typeof again !== 'string') return again
    throw new ChunkLost(again)
  }

  /** Of its content; `undefined`: it is not known here. */
  sizeOf(chunk: string): number | undefined {
    return this.#index.locations(chunk)[0]?.sizeBytes
  }

  /** @returns the content, or in words why there is none */
  async #tryAll(chunk: string, signal?: AbortSignal): Promise<Found | string> {
    let reason = 'is lost'
    for (const location of this.#index.locations(chunk)) {
      const found = await this.#tryOne(chunk, location, signal)
      if (typeof found !== 'string') return found
      reason = found
    }
    return `chunk ${chunk} ${reason}`
  }

  async #tryOne(chunk: string, location: Location, signal?: AbortSignal): Promise<Found | string> {
    const { pack, sizeBytes } = location
    // asked twice: what an answer got wrong on its way is right the second time
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
    { pack, offset, sealedBytes }: Location,
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
    // who asks next asks the storage again
    stretch.bytes.catch(() => {
      const at = this.#stretches.indexOf(stretch)
      if (at >= 0) this.#stretches.splice(at, 1)
    })
  }
}

/** @returns nothing when it is cut off */
const wholeOf = (bytes: Buffer | undefined, start: number, length: number): Buffer | undefined =>
  bytes && bytes.length >= start + length ? bytes.subarray(start, start + length) : undefined
