import type { RepositoryKeys } from './keys.ts'

/**
 * The sizes of chunks. Each has at least `least` bytes (except the last) and at most `most`. The average is `least` and
 * 2^`bits`.
 */
export interface Sizes {
  readonly least: number
  readonly most: number
  readonly bits: number
}

/** The sizes for files, about 1 MB. A file of up to 512 KB, like most files, is one chunk. */
export const fileSizes: Sizes = { least: 512 << 10, most: 4 << 20, bits: 19 }
/** The sizes for streams, which change here and there: about 96 KB. */
export const streamSizes: Sizes = { least: 32 << 10, most: 512 << 10, bits: 16 }

/**
 * Cuts content at places that depend on a hash of the last 32 bytes (Gear: Xia and others, FastCDC, USENIX ATC 2016).
 * So an inserted byte moves no other cut. The callback receives chunks as they are found. They are valid until it
 * returns.
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
    // The high bits depend on the most bytes.
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

  /** Ends the content. The rest is the last chunk, if it is not empty. */
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

  /** Returns the end of the chunk that begins at `start`; `undefined` while more content is needed. */
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
