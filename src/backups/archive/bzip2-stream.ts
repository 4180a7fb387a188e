import type { Bzip2Block } from './bzip2-block.ts'

/** How far a stream has come: all that the next block must know of those before it. */
export interface StreamPlace {
  /** From the beginning of the stream. */
  readonly bits: number
  /** Of the blocks so far. */
  readonly crc: number
}

/** `BZh9`: blocks of 900,000 bytes at most. */
const HEAD = Uint8Array.of(0x42, 0x5a, 0x68, 0x39)
const END_BITS = 80

/** Before the first block. */
export const streamBegin: StreamPlace = { bits: 8 * HEAD.length, crc: 0 }

export const placeAfter = ({ bits, crc }: StreamPlace, block: Pick<Bzip2Block, 'bits' | 'crc'>): StreamPlace => ({
  bits: bits + block.bits,
  crc: ((crc << 1) | (crc >>> 31)) ^ block.crc,
})

/** Length in bytes of a stream whose last block ends here. */
export const streamLength = ({ bits }: StreamPlace): number => Math.ceil((bits + END_BITS) / 8)

/** Puts blocks together to one stream, as every reader of bzip2 takes it: not all take several streams one after the other. */
export class Bzip2Stream {
  #place: StreamPlace
  /** Bits of the last byte that are not given out yet, at its upper end. */
  #held = 0

  /** @param place where to go on. The byte in which it lies is given out with nothing of what was before it: the caller leaves it out. */
  constructor(place: StreamPlace = streamBegin) {
    this.#place = place
  }

  get head(): Uint8Array {
    return HEAD
  }

  /** @returns the bytes that are complete with it */
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
    // what is not a whole byte is filled up
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
    // the last byte may reach beyond what is whole
    if (whole < bytes.length) held |= bytes[whole]! >>> shift
    this.#held = held
    return out
  }
}
