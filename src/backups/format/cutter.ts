import type { RepositoryKeys } from './keys.ts'

/** How content is cut: no chunk but the last is smaller than `least` bytes, none larger than `most`; on average they have `least` and 2^`bits`. */
export interface Sizes {
  readonly least: number
  readonly most: number
  readonly bits: number
}

/** Of files: about 1 MB. A file of up to 512 KB, which most are, is one chunk. */
export const fileSizes: Sizes = { least: 512 << 10, most: 4 << 20, bits: 19 }
/** Of streams, that change here and there: about 96 KB. */
export const streamSizes: Sizes = { least: 32 << 10, most: 512 << 10, bits: 16 }

/**
 * Cuts content where a hash of the last 32 bytes says so (Gear: Xia and others, FastCDC, USENIX ATC 2016), so that a byte put in moves no other
 * cut. Chunks are handed over as they are found, and are valid until the function returns.
 */
export class Cutter {
  readonly #table: Int32Array
  readonly #sizes: Sizes
  readonly #mask: number
  readonly #found: (chunk: Buffer) => void
  #kept: Buffer = Buffer.alloc(0)
  #length = 0
  #seen = 0
  #hash = 0

  constructor({ cutting }: Pick<RepositoryKeys, 'cutting'>, sizes: Sizes, found: (chunk: Buffer) => void) {
    this.#table = cutting
    this.#sizes = sizes
    // the high bits have seen the most bytes
    this.#mask = ((1 << sizes.bits) - 1) << (32 - sizes.bits)
    this.#found = found
  }

  push(piece: Uint8Array): void {
    this.#keep(piece)
    let start = 0
    for (;;) {
      const end = this.#nextCut(start)
      if (end === undefined) break
      this.#found(this.#kept.subarray(start, end))
      start = end
      this.#seen = 0
      this.#hash = 0
    }
    if (start > 0) {
      this.#kept.copyWithin(0, start, this.#length)
      this.#length -= start
    }
  }

  /** What is left is the last chunk; of nothing there is none. */
  end(): void {
    if (this.#length > 0) this.#found(this.#kept.subarray(0, this.#length))
    this.#length = 0
  }

  #keep(piece: Uint8Array): void {
    if (this.#length + piece.length > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#length + piece.length, 2 * this.#kept.length))
      this.#kept.copy(larger, 0, 0, this.#length)
      this.#kept = larger
    }
    this.#kept.set(piece, this.#length)
    this.#length += piece.length
  }

  /** The end of the chunk that begins at `start`; `undefined` while more content is needed to say. */
  #nextCut(start: number): number | undefined {
    const { least, most } = this.#sizes
    const table = this.#table
    const mask = this.#mask
    const bytes = this.#kept
    const to = Math.min(this.#length, start + most)
    let hash = this.#hash
    for (let at = start + Math.max(this.#seen, least); at < to; at++) {
      hash = ((hash << 1) + (table[bytes[at] as number] as number)) | 0
      if ((hash & mask) === 0) return at + 1
    }
    if (to === start + most) return to
    this.#hash = hash
    this.#seen = Math.max(to - start, least)
    return undefined
  }
}
