import type { Bzip2Block } from './bzip2-block.ts'
import { placeAfter, type StreamPlace, streamBegin, streamLength } from './bzip2-stream.ts'

/**
 * The bytes of the uncompressed archive that become one block of the stream. Part of the format, because byte ranges
 * depend on it.
 */
export const PIECE = 1400 * 512

/** The bytes of a stored block entry: its length in bits, and the checksum up to its end. */
const ENTRY = 8

/**
 * The places of a compressed archive's blocks, as learned while it was built. With them, a later part can be built
 * without the parts before it. After one complete build, the length is known. It takes 11 bytes per megabyte of
 * content.
 */
export class ArchiveLengths {
  /** The places before each block, and after the last. */
  readonly #places: StreamPlace[] = [streamBegin]
  #isWhole = false

  /** Returns the number of known blocks. */
  get count(): number {
    return this.#places.length - 1
  }

  /** Returns the number of bytes that are known to exist. */
  get knownBytes(): number {
    return this.totalBytes ?? Math.floor(this.#places.at(-1)!.bits / 8)
  }

  /** Returns the length of the archive; `undefined` until it was built to its end. */
  get totalBytes(): number | undefined {
    return this.#isWhole ? streamLength(this.#places.at(-1)!) : undefined
  }

  /** Returns the last known block whose first whole byte is at or before this byte. */
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

  /** Records that the archive has exactly this many blocks. */
  end(count: number): void {
    if (count === this.count) this.#isWhole = true
  }

  /** Returns the lengths of the first blocks only. */
  first(count: number): ArchiveLengths {
    const lengths = new ArchiveLengths()
    lengths.#places.push(...this.#places.slice(1, count + 1))
    return lengths
  }

  /** Returns the form that `decode` reads. */
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
