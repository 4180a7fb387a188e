import { UnreadableSql } from './sql-tokens.ts'

/** More than the longest compressed form of a block of 900,000 bytes. */
const MOST_BLOCK_BYTES = 1 << 20
const PIECE_BYTES = 1 << 16
const BLOCK_BEGIN = [0x314159, 0x265359] as const
const STREAM_END = [0x177245, 0x385090] as const
/** The number of symbols that one code table applies to. */
const GROUP = 50
const LONGEST_CODE = 20
const MOST_SYMBOLS = 258

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  return crc >>> 0
})

const damaged = () => new UnreadableSql('The bzip2 file is damaged', 'Copy the file again, or pack it again.')

/** Decompresses bzip2, one stream or several in a row. Keeps one block in memory. @throws UnreadableSql */
export async function* bunzip2(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const bits = new Bits()
  let blockBytes = 0
  const step = function* (): Generator<Uint8Array, void, void> {
    if (blockBytes === 0) {
      blockBytes = readHead(bits)
      return
    }
    const [first, second] = [bits.read(24), bits.read(24)]
    if (first === BLOCK_BEGIN[0] && second === BLOCK_BEGIN[1]) yield* readBlock(bits, blockBytes)
    else if (first === STREAM_END[0] && second === STREAM_END[1]) {
      // The checksum of all blocks. Each block has its own too.
      bits.read(16)
      bits.read(16)
      bits.toByte()
      blockBytes = 0
    } else throw damaged()
  }
  for await (const piece of source) {
    bits.add(piece)
    while (bits.left > MOST_BLOCK_BYTES) yield* step()
  }
  while (bits.left > 0) {
    // Data after a complete stream does not belong to it.
    if (blockBytes === 0 && !bits.beginsStream) return
    yield* step()
  }
  if (blockBytes > 0) throw new UnreadableSql('The bzip2 file is cut off', 'Copy the file again.')
}

function readHead(bits: Bits): number {
  const head = String.fromCharCode(bits.read(8), bits.read(8), bits.read(8), bits.read(8))
  if (!/^BZh[1-9]$/.test(head)) throw damaged()
  return Number(head[3]) * 100_000
}

class Bits {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #end = 0
  #held = 0
  #count = 0

  /** Returns the number of bytes that have arrived and were not read. */
  get left(): number {
    return this.#end - this.#at
  }

  get beginsStream(): boolean {
    return Buffer.from(this.#bytes.subarray(this.#at, Math.min(this.#end, this.#at + 3))).toString('latin1') === 'BZh'
  }

  add(piece: Uint8Array): void {
    const rest = this.left
    if (this.#end + piece.length > this.#bytes.length) {
      const roomy = new Uint8Array(Math.max(MOST_BLOCK_BYTES * 2, (rest + piece.length) * 2))
      roomy.set(this.#bytes.subarray(this.#at, this.#end))
      this.#bytes = roomy
      this.#at = 0
      this.#end = rest
    }
    this.#bytes.set(piece, this.#end)
    this.#end += piece.length
  }

  /** @param count the number of bits, 24 at most */
  read(count: number): number {
    while (this.#count < count) {
      if (this.#at >= this.#end) throw new UnreadableSql('The bzip2 file is cut off', 'Copy the file again.')
      this.#held = ((this.#held << 8) | (this.#bytes[this.#at++] as number)) >>> 0
      this.#count += 8
    }
    this.#count -= count
    const value = (this.#held >>> this.#count) & ((1 << count) - 1)
    this.#held &= (1 << this.#count) - 1
    return value
  }

  /** Skips the rest of a byte. */
  toByte(): void {
    this.#count = 0
    this.#held = 0
  }
}

/** The codes of one table, by their lengths. */
interface Codes {
  /** The largest code of each length, and the offset from it to its symbols; -1 if there is none. */
  readonly limits: Int32Array
  readonly offsets: Int32Array
  readonly symbols: Uint16Array
  readonly shortest: number
}

function* readBlock(bits: Bits, mostBytes: number): Generator<Uint8Array, void, void> {
  const crc = ((bits.read(16) << 16) | bits.read(16)) >>> 0
  if (bits.read(1) !== 0) throw damaged()
  const origin = bits.read(24)
  const used = readUsed(bits)
  const tables = readTables(bits, used.length + 2)
  const { order, length } = readSymbols(bits, used, tables, mostBytes)
  if (origin >= length) throw damaged()
  yield* textOf(order, length, origin, crc)
}

/** Returns the bytes that occur in the block. */
function readUsed(bits: Bits): number[] {
  const rows = bits.read(16)
  const used: number[] = []
  for (let row = 0; row < 16; row++) {
    if (((rows >> (15 - row)) & 1) === 0) continue
    const columns = bits.read(16)
    for (let column = 0; column < 16; column++) if ((columns >> (15 - column)) & 1) used.push(row * 16 + column)
  }
  if (used.length === 0) throw damaged()
  return used
}

function readTables(bits: Bits, symbols: number): Codes[] {
  const count = bits.read(3)
  const selectorCount = bits.read(15)
  if (count < 2 || count > 6 || selectorCount === 0) throw damaged()
  const places = Array.from({ length: count }, (_, place) => place)
  const selectors = new Uint8Array(selectorCount)
  for (let at = 0; at < selectorCount; at++) {
    let place = 0
    while (bits.read(1) === 1) if (++place >= count) throw damaged()
    const [table] = places.splice(place, 1) as [number]
    places.unshift(table)
    selectors[at] = table
  }
  const tables = Array.from({ length: count }, () => readCodes(bits, symbols))
  return Array.from(selectors, (table) => tables[table] as Codes)
}

function readCodes(bits: Bits, count: number): Codes {
  const lengths = new Uint8Array(count)
  let length = bits.read(5)
  for (let symbol = 0; symbol < count; symbol++) {
    for (;;) {
      if (length < 1 || length > LONGEST_CODE) throw damaged()
      if (bits.read(1) === 0) break
      length += bits.read(1) === 0 ? 1 : -1
    }
    lengths[symbol] = length
  }
  const limits = new Int32Array(LONGEST_CODE + 2).fill(-1)
  const offsets = new Int32Array(LONGEST_CODE + 2)
  const symbols = new Uint16Array(MOST_SYMBOLS)
  let [code, at, shortest] = [0, 0, 0]
  for (let size = 1; size <= LONGEST_CODE; size++) {
    offsets[size] = at - code
    for (let symbol = 0; symbol < count; symbol++)
      if (lengths[symbol] === size) {
        symbols[at++] = symbol
        code++
        shortest ||= size
      }
    limits[size] = code - 1
    code <<= 1
  }
  return { limits, offsets, symbols, shortest }
}

/** Decodes the Huffman codes, the runs of zeros, and "move to front". */
function readSymbols(bits: Bits, used: readonly number[], tables: readonly Codes[], mostBytes: number) {
  const order = new Uint32Array(mostBytes)
  const front = Uint8Array.from(used)
  const end = used.length + 1
  let [length, run, weight, left, at] = [0, 0, 1, 0, 0]
  let codes = tables[0] as Codes
  for (;;) {
    if (left === 0) {
      const next = tables[at++]
      if (!next) throw damaged()
      codes = next
      left = GROUP
    }
    left--
    const symbol = readSymbol(bits, codes)
    if (symbol <= 1) {
      run += weight << symbol
      weight <<= 1
      if (run > mostBytes) throw damaged()
      continue
    }
    if (run > 0) {
      if (length + run > mostBytes) throw damaged()
      order.fill(front[0] as number, length, length + run)
      length += run
      run = 0
      weight = 1
    }
    if (symbol === end) return { order, length }
    const place = symbol - 1
    const byte = front[place] as number
    front.copyWithin(1, 0, place)
    front[0] = byte
    if (length >= mostBytes) throw damaged()
    order[length++] = byte
  }
}

function readSymbol(bits: Bits, { limits, offsets, symbols, shortest }: Codes): number {
  let code = bits.read(shortest)
  for (let size = shortest; size <= LONGEST_CODE; size++) {
    if (code <= (limits[size] as number)) return symbols[code + (offsets[size] as number)] as number
    code = (code << 1) | bits.read(1)
  }
  throw damaged()
}

/** Undoes the sorting, then the runs of four and more. */
function* textOf(order: Uint32Array, length: number, origin: number, crc: number): Generator<Uint8Array, void, void> {
  const begins = new Uint32Array(256)
  for (let at = 0; at < length; at++) {
    const byte = (order[at] as number) & 0xff
    begins[byte] = (begins[byte] as number) + 1
  }
  let sum = 0
  for (let byte = 0; byte < 256; byte++) {
    const count = begins[byte] as number
    begins[byte] = sum
    sum += count
  }
  for (let at = 0; at < length; at++) {
    const byte = (order[at] as number) & 0xff
    const place = begins[byte] as number
    begins[byte] = place + 1
    order[place] = ((order[place] as number) | (at << 8)) >>> 0
  }
  let piece = Buffer.allocUnsafe(PIECE_BYTES)
  let [used, found, last, same] = [0, 0xffffffff, -1, 0]
  let next = (order[origin] as number) >>> 8
  for (let at = 0; at < length; at++) {
    const entry = order[next] as number
    next = entry >>> 8
    const byte = entry & 0xff
    let times = 1
    if (same === 4) {
      times = byte
      same = 0
    } else {
      same = byte === last ? same + 1 : 1
      last = byte
    }
    const written = same === 0 ? last : byte
    for (; times > 0; times--) {
      if (used === PIECE_BYTES) {
        yield piece
        piece = Buffer.allocUnsafe(PIECE_BYTES)
        used = 0
      }
      piece[used++] = written
      found = ((found << 8) ^ (CRC[((found >>> 24) ^ written) & 0xff] as number)) >>> 0
    }
    if (same === 0) last = -1
  }
  if (~found >>> 0 !== crc) throw damaged()
  yield piece.subarray(0, used)
}
