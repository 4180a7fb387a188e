import type { ChunkIndex, ChunkLocation } from '../chunk-index.ts'
import { idText } from '../format/chunk.ts'
import { packName } from '../format/object-names.ts'
import { type PackedChunk, packedChunks } from '../format/pack.ts'
import type { RepositoryParts } from './manifests.ts'

/** The bytes that are read from a pack, and opened, at once. */
const STRETCH_BYTES = 1 << 20
/** The most content of a stretch, because a stretch of text contains much more. */
const CONTENT_BYTES = 2 << 20
/** The stretch that is read ahead, the one in use, and the one before, which a reader may still need. */
const MOST_STRETCHES = 3
/** The gap that a reader may skip: parts of listings, and unwanted files. */
const MOST_GAP_BYTES = 256 << 10

interface Stretch {
  readonly pack: string
  readonly start: number
  readonly end: number
  /** By name, without those that are not what was written. */
  readonly chunks: Promise<ReadonlyMap<string, Buffer>>
}

/**
 * Reads chunks that are requested in the order of a pack, such as those of a tree that is being restored. The thread
 * opens a whole stretch of them at once, one stretch ahead. Single chunks would each need a request to the thread, and
 * each answer makes the garbage collector scan the heap.
 */
export class ReadingOn {
  readonly #parts: RepositoryParts
  readonly #stretches: Stretch[] = []
  #last: { readonly pack: string; readonly end: number } | undefined

  constructor(parts: RepositoryParts) {
    this.#parts = parts
  }

  /**
   * @returns undefined if the chunk is not requested in order, or fails at the first attempt; the caller then looks
   * closer.
   * @throws StorageFailure
   */
  async read(index: ChunkIndex, chunk: string, signal: AbortSignal | undefined): Promise<Buffer | undefined> {
    const [location] = index.locations(chunk)
    if (!location) return undefined
    const follows = this.#follows(location)
    this.#last = { pack: location.pack.id, end: location.offset + location.sealedBytes }
    let stretch = this.#find(location)
    if (!stretch && !follows) return undefined
    stretch ??= this.#begin(index, location.pack.id, location.offset, signal)
    // The newest stretch is in use, so start the next one.
    if (stretch && stretch === this.#stretches[0]) this.#begin(index, stretch.pack, stretch.end, signal)
    return (await stretch?.chunks)?.get(chunk)
  }

  #follows({ pack, offset }: ChunkLocation): boolean {
    const gap = this.#last?.pack === pack.id ? offset - this.#last.end : -1
    return gap >= 0 && gap <= MOST_GAP_BYTES
  }

  #find({ pack, offset }: ChunkLocation): Stretch | undefined {
    return this.#stretches.find((each) => each.pack === pack.id && each.start <= offset && offset < each.end)
  }

  /** @returns undefined at the end of a pack */
  #begin(index: ChunkIndex, pack: string, start: number, signal: AbortSignal | undefined): Stretch | undefined {
    const rows = rowsAt(index.tables.get(pack), start)
    const last = rows.at(-1)
    if (!last) return undefined
    const stretch = { pack, start, end: last.offset + last.sealedBytes, chunks: this.#open(pack, rows, signal) }
    this.#stretches.unshift(stretch)
    this.#stretches.length = Math.min(this.#stretches.length, MOST_STRETCHES)
    // The next caller reads from the storage again.
    stretch.chunks.catch(() => {
      const at = this.#stretches.indexOf(stretch)
      if (at >= 0) this.#stretches.splice(at, 1)
    })
    return stretch
  }

  async #open(
    pack: string,
    rows: readonly PackedChunk[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, Buffer>> {
    const { storage, keys, opener } = this.#parts
    const [first, last] = [rows[0] as PackedChunk, rows.at(-1) as PackedChunk]
    const range = { start: first.offset, length: last.offset + last.sealedBytes - first.offset }
    const bytes = await storage.get(packName(keys.owner, pack), range, signal)
    const found = new Map<string, Buffer>()
    if (!bytes) return found
    const inPiece = rows.map((row) => ({ ...row, offset: row.offset - first.offset }))
    const contents = await opener.openAll({ keys, bytes, rows: inPiece })
    contents.forEach((content, at) => {
      const { id } = rows[at] as PackedChunk
      if (content) found.set(idText(id), Buffer.from(content.buffer, content.byteOffset, content.byteLength))
    })
    return found
  }
}

function rowsAt(table: Buffer | undefined, start: number): PackedChunk[] {
  const rows: PackedChunk[] = []
  let contentBytes = 0
  for (const row of table ? packedChunks(table, start) : []) {
    contentBytes += row.sizeBytes
    const isMore = row.offset + row.sealedBytes - start > STRETCH_BYTES || contentBytes > CONTENT_BYTES
    if (isMore && rows.length > 0) break
    rows.push(row)
  }
  return rows
}
