import type { Bzip2Block } from './bzip2-block.ts'
import { placeAfter, type StreamPlace, streamBegin, streamLength } from './bzip2-stream.ts'

/** Bytes of the archive, before it is compressed, that become one block of the stream. Part of the format: ranges rest on it. */
export const PIECE = 1400 * 512

/** Of a block as it is kept: its bits, and the checksum up to its end. */
const ENTRY = 8

/**
 * What is known of a compressed archive from making it: where each block lies. So a part of it can be made without what comes before, and its
 * length can be said once it was made to its end. 11 bytes a megabyte of content.
 */
export class ArchiveLengths {
  /** Before each block, and after the last. */
  readonly #places: StreamPlace[] = [streamBegin]
  #isWhole = false

  /** Blocks that are known. */
  get count(): number {
    return this.#places.length - 1
  }

  /** Bytes that are known to be there. */
  get knownBytes(): number {
    return this.totalBytes ?? Math.floor(this.#places.at(-1)!.bits / 8)
  }

  /** Length of the archive; `undefined` until it was made to its end. */
  get totalBytes(): number | undefined {
    return this.#isWhole ? streamLength(this.#places.at(-1)!) : undefined
  }

  /** The last block that begins with a byte of its own at or before this byte, of those that are known. */
  blockAt(byte: number): { readonly number: number; readonly place: StreamPlace } {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (Math.ceil(this.#places[middle]!.bits / 8) <= byte) low = middle
      else high = middle - 1
    }
    return { number: low, place: this.#places[low]! }
  }

  add(number: number, block: Pick<Bzip2Block, 'bits' | 'crc'>): void {
    if (number === this.count) this.#places.push(placeAfter(this.#places[number]!, block))
  }

  /** There are no more than so many. */
  end(count: number): void {
    if (count === this.count) this.#isWhole = true
  }

  /** What is known of the first so many blocks. */
  first(count: number): ArchiveLengths {
    const lengths = new ArchiveLengths()
    lengths.#places.push(...this.#places.slice(1, count + 1))
    return lengths
  }

  /** For `decode`. */
  encode(): { bytes: Buffer; isWhole: boolean } {
    const bytes = Buffer.alloc(this.count * ENTRY)
    for (let number = 0; number < this.count; number++) {
      const { bits, crc } = this.#places[number + 1]!
      bytes.writeUInt32BE(bits - this.#places[number]!.bits, number * ENTRY)
      bytes.writeInt32BE(crc, number * ENTRY + 4)
    }
    return { bytes, isWhole: this.#isWhole }
  }

  static decode(bytes: Buffer, isWhole: boolean): ArchiveLengths {
    const lengths = new ArchiveLengths()
    for (let at = 0; at + ENTRY <= bytes.length; at += ENTRY) {
      const { bits } = lengths.#places.at(-1)!
      lengths.#places.push({ bits: bits + bytes.readUInt32BE(at), crc: bytes.readInt32BE(at + 4) })
    }
    lengths.#isWhole = isWhole
    return lengths
  }
}
