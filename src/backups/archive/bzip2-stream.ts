import type { Bzip2Block } from './bzip2-block.ts'

/** The state of a stream that the next block needs from those before it. */
export interface StreamPlace {
  /** The number of bits from the beginning of the stream. */
  readonly bits: number
  /** The checksum of the blocks so far. */
  readonly crc: number
}

/** `BZh9`: blocks of at most 900,000 bytes. */
const HEAD = Uint8Array.of(0x42, 0x5a, 0x68, 0x39)
const END_BITS = 80

/** The place before the first block. */
export const streamBegin: StreamPlace = { bits: 8 * HEAD.length, crc: 0 }

export const placeAfter = ({ bits, crc }: StreamPlace, block: Pick<Bzip2Block, 'bits' | 'crc'>): StreamPlace => ({
  bits: bits + block.bits,
  crc: ((crc << 1) | (crc >>> 31)) ^ block.crc,
})

/** Returns the length in bytes of a stream whose last block ends here. */
export const streamLength = ({ bits }: StreamPlace): number => Math.ceil((bits + END_BITS) / 8)

/** Joins blocks to one stream, which every bzip2 reader accepts. Not all readers accept several streams in a row. */
export class Bzip2Stream {
  #place: StreamPlace
  /** The bits of the last byte that have not been output yet, at its upper end. */
  #held = 0

  /** @param place where to continue; the first byte lacks the bits of earlier blocks, so the caller must drop it */
  constructor(place: StreamPlace = streamBegin) {
    this.#place = place
  }

  get head(): Uint8Array {
    return HEAD
  }

  /**
   * Adds a block.
   * @returns the bytes that it completes
   */
  add(block: Bzip2Block): Uint8Array {
    const out = this.#append(block.bytes, block.bits)
    this.#place = placeAfter(this.#place, block)
    return out
  }

  end(): Uint8Array {
    const { bits, crc } = this.#place
    const end = Buffer.alloc(END_BITS / 8 + 1)
    end.writeUIntBE(0x177245385090, 0, 6)
    end.writeInt32BE(crc, 6)
    const out = this.#append(end, END_BITS)
    // Pads the last byte.
    return (bits + END_BITS) % 8 === 0 ? out : Buffer.concat([out, Uint8Array.of(this.#held)])
  }

  #append(bytes: Uint8Array, bits: number): Uint8Array {
    const shift = this.#place.bits % 8
    const whole = Math.floor((shift + bits) / 8)
    const out = new Uint8Array(whole)
    let held = this.#held
    for (let at = 0; at < whole; at++) {
      const byte = bytes[at] ?? 0
      out[at] = held | (byte >>> shift)
      held = (byte << (8 - shift)) & 0xff
    }
    // The last byte may extend beyond the complete ones.
    if (whole < bytes.length) held |= bytes[whole]! >>> shift
    this.#held = held
    return out
  }
}
