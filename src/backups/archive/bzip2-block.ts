import { suffixArray } from './suffix-array.ts'

/*
 * One block of bzip2. The steps, and the search for Huffman tables, are those of bzip2 1.0.8, copyright (C) 1996-2019
 * Julian R Seward (`third-party/bzip2-license.txt`), rewritten. The bytes equal those of that program with -9, except
 * for texts that consist of one repeated piece, which have more than one correct result.
 *
 * The only specification of the format is its decoder. In short:
 * - Runs of 4 to 255 equal bytes become four bytes and a count.
 * - The last column of all sorted rotations of the result is taken (Burrows-Wheeler).
 * - Each byte becomes its place in a list that moves each seen value to its front.
 * - Runs of zeros become numbers.
 * - Two to six tables of Huffman codes encode the symbols, with a new choice every 50 symbols.
 */

/**
 * The most content that always fits into one block. The runs of the first step can make it longer by a quarter, to
 * 900,000 bytes less 19.
 */
export const MOST_OF_BLOCK = 719_984

/** Compressed bytes. The last one may be used only in part, because blocks follow each other without byte alignment. */
export interface Bzip2Block {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly bits: number
  /** The checksum of the content. */
  readonly crc: number
}

/**
 * Compresses one block.
 * @param content 1 to {@link MOST_OF_BLOCK} bytes
 */
export function bzip2Block(content: Uint8Array): Bzip2Block {
  if (content.length === 0 || content.length > MOST_OF_BLOCK) throw new RangeError('one block of bzip2')
  const { short, crc } = shortenRuns(content)
  const { column, origin } = lastColumn(short)
  const used = usedValues(short)
  const { symbols, count } = symbolsOf(column, used)
  const alphabet = alphabetOf(used)
  const tables = chooseTables(symbols, count, alphabet)
  const out = new BitWriter(short.length * 1.1 + 4096)
  out.put(24, 0x314159)
  out.put(24, 0x265359)
  out.put(16, crc >>> 16)
  out.put(16, crc & 0xffff)
  out.put(1, 0)
  out.put(24, origin)
  writeUsed(out, used)
  writeTables(out, tables, alphabet)
  writeSymbols(out, symbols, count, tables)
  return { ...out.end(), crc }
}

const crcTable = new Int32Array(256).map((_, byte) => {
  let value = byte << 24
  for (let bit = 0; bit < 8; bit++) value = value < 0 ? (value << 1) ^ 0x04c11db7 : value << 1
  return value
})

function shortenRuns(content: Uint8Array): { short: Uint8Array; crc: number } {
  const { length } = content
  const short = new Uint8Array(Math.ceil(length * 1.25))
  let to = 0
  let crc = -1
  for (let from = 0; from < length; ) {
    const byte = content[from]!
    const most = Math.min(length, from + 255)
    let end = from
    while (end < most && content[end] === byte) {
      crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ byte]!
      end++
    }
    const run = end - from
    for (let each = Math.min(run, 4); each > 0; each--) short[to++] = byte
    if (run >= 4) short[to++] = run - 4
    from = end
  }
  return { short: short.subarray(0, to), crc: ~crc }
}

/** Returns the byte before each rotation of the text, in sorted order, and the place of the text itself among them. */
function lastColumn(text: Uint8Array): { column: Uint8Array; origin: number } {
  const { length } = text
  const { start, period } = leastRotation(text)
  // The least rotation is smaller than all of its own suffixes, which therefore have the order of its rotations.
  const word = new Uint8Array(period)
  word.set(text.subarray(start, Math.min(length, start + period)))
  if (start + period > length) word.set(text.subarray(0, start + period - length), length - start)
  const order = suffixArray(word, 255)
  const times = length / period
  const first = (period - start) % period
  const column = new Uint8Array(length)
  let origin = 0
  for (let rank = 0, to = 0; rank < period; rank++) {
    const at = order[rank]!
    if (at === first) origin = to
    const before = word[at === 0 ? period - 1 : at - 1]!
    for (let each = 0; each < times; each++) column[to++] = before
  }
  return { column, origin }
}

/**
 * Returns where the smallest rotation begins, and the period of the text, which is its length if it does not repeat
 * itself.
 */
function leastRotation(text: Uint8Array): { start: number; period: number } {
  const { length } = text
  let one = 0
  let other = 1
  let same = 0
  while (one < length && other < length && same < length) {
    const left = one + same
    const right = other + same
    const a = text[left < length ? left : left - length]!
    const b = text[right < length ? right : right - length]!
    if (a === b) same++
    else {
      if (a > b) one += same + 1
      else other += same + 1
      if (one === other) other++
      same = 0
    }
  }
  return { start: Math.min(one, other), period: same === length ? Math.abs(one - other) : length }
}

function usedValues(text: Uint8Array): Uint8Array {
  const used = new Uint8Array(256)
  for (let at = 0; at < text.length; at++) used[text[at]!] = 1
  return used
}

/** Returns the number of symbols: two digits of runs, the other places, and the end. */
const alphabetOf = (used: Uint8Array): number => used.reduce((sum, each) => sum + each, 0) + 2

const RUN_A = 0
const RUN_B = 1

/**
 * Returns places in the list of seen values. Runs of the first place become base-two numbers with the digits 1 and 2.
 * The end symbol follows.
 */
function symbolsOf(column: Uint8Array, used: Uint8Array): { symbols: Uint16Array; count: number } {
  const recent = new RecentFirst(used)
  const symbols = new Uint16Array(column.length + 1)
  let count = 0
  let zeros = 0
  const endRun = () => {
    for (; zeros > 0; zeros = (zeros - 1) >> 1) symbols[count++] = zeros & 1 ? RUN_A : RUN_B
  }
  let last = recent.first
  for (let at = 0; at < column.length; at++) {
    const value = column[at]!
    if (value === last) {
      zeros++
      continue
    }
    if (zeros > 0) endRun()
    last = value
    symbols[count++] = recent.toFront(value) + 1
  }
  endRun()
  symbols[count++] = alphabetOf(used) - 1
  return { symbols, count }
}

/** The number of values in a row of the list, and the capacity for all rows. */
const ROW = 16
const ROOM = 4096

/**
 * Values in the order in which they were last seen. The list has rows, so that a move touches one row and one end of
 * each row before it, not all places.
 */
class RecentFirst {
  readonly #rowOf = new Uint8Array(256)
  /** Each row grows towards the front. When the first row has no space left, all rows move back. */
  readonly #places = new Uint8Array(ROOM)
  readonly #starts = new Int32Array(ROW)

  /** Starts with the used values, in ascending order. */
  constructor(used: Uint8Array) {
    const values = Array.from(used.keys())
    this.#lay([...values.filter((value) => used[value]), ...values.filter((value) => !used[value])])
  }

  get first(): number {
    return this.#places[this.#starts[0]!]!
  }

  /**
   * Moves a value to the front.
   * @returns the place where the value was
   */
  toFront(value: number): number {
    const places = this.#places
    const starts = this.#starts
    let row = this.#rowOf[value]!
    const start = starts[row]!
    let at = start
    while (places[at] !== value) at++
    const place = row * ROW + at - start
    for (; at > start; at--) places[at] = places[at - 1]!
    starts[row]!++
    for (; row > 0; row--) {
      const passed = places[starts[row - 1]! + ROW - 1]!
      places[--starts[row]!] = passed
      this.#rowOf[passed] = row
    }
    places[--starts[0]!] = value
    this.#rowOf[value] = 0
    if (starts[0] === 0) this.#lay(Array.from(starts).flatMap((from) => [...places.subarray(from, from + ROW)]))
    return place
  }

  #lay(values: readonly number[]): void {
    const from = ROOM - values.length
    this.#places.set(values, from)
    for (let row = 0; row < ROW; row++) this.#starts[row] = from + row * ROW
    for (const [place, value] of values.entries()) this.#rowOf[value] = Math.floor(place / ROW)
  }
}

/** The number of symbols that share a table. */
const GROUP = 50
const ROUNDS = 4
const LONGEST_CODE = 17
/** The space for the alphabet in a flat table. */
const WIDTH = 258

interface Tables {
  readonly count: number
  /** The bits of each code, by table and symbol. */
  readonly lengths: Uint8Array
  /** The table of each group. */
  readonly selectors: Uint8Array
}

function chooseTables(symbols: Uint16Array, count: number, alphabet: number): Tables {
  const tables = count < 200 ? 2 : count < 600 ? 3 : count < 1200 ? 4 : count < 2400 ? 5 : 6
  const lengths = firstLengths(symbols, count, alphabet, tables)
  const selectors = new Uint8Array(Math.ceil(count / GROUP))
  const frequencies = new Int32Array(tables * WIDTH)
  for (let round = 0; round < ROUNDS; round++) {
    frequencies.fill(0)
    for (let group = 0; group < selectors.length; group++) {
      const from = group * GROUP
      const to = Math.min(count, from + GROUP)
      const best = cheapest(symbols, from, to, lengths, tables)
      selectors[group] = best
      for (let at = from; at < to; at++) frequencies[best * WIDTH + symbols[at]!]!++
    }
    for (let table = 0; table < tables; table++) {
      const range = [table * WIDTH, table * WIDTH + alphabet] as const
      codeLengths(frequencies.subarray(...range), lengths.subarray(...range))
    }
  }
  return { count: tables, lengths, selectors }
}

/** Gives each table its own part of the alphabet, with parts of about equal frequency. */
function firstLengths(symbols: Uint16Array, count: number, alphabet: number, tables: number): Uint8Array {
  const frequency = new Int32Array(alphabet)
  for (let at = 0; at < count; at++) frequency[symbols[at]!]!++
  const lengths = new Uint8Array(tables * WIDTH)
  for (let table = 0; table < tables; table++) lengths.fill(15, table * WIDTH, table * WIDTH + alphabet)
  let left = count
  let from = 0
  for (let parts = tables; parts > 0; parts--) {
    const wanted = Math.floor(left / parts)
    let to = from - 1
    let sum = 0
    while (sum < wanted && to < alphabet - 1) sum += frequency[++to]!
    if (to > from && parts !== tables && parts !== 1 && (tables - parts) % 2 === 1) sum -= frequency[to--]!
    lengths.fill(0, (parts - 1) * WIDTH + from, (parts - 1) * WIDTH + to + 1)
    from = to + 1
    left -= sum
  }
  return lengths
}

function cheapest(symbols: Uint16Array, from: number, to: number, lengths: Uint8Array, tables: number): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (let table = 0; table < tables; table++) {
    const base = table * WIDTH
    let cost = 0
    for (let at = from; at < to; at++) cost += lengths[base + symbols[at]!]!
    if (cost < least) {
      least = cost
      best = table
    }
  }
  return best
}

/**
 * Computes the lengths of Huffman codes. If one is too long, the frequencies are leveled and all lengths computed
 * again.
 */
function codeLengths(frequencies: Int32Array, lengths: Uint8Array): void {
  const weights = Array.from(frequencies, (each) => Math.max(each, 1))
  while (!huffman(weights, lengths)) for (const [at, weight] of weights.entries()) weights[at] = 1 + (weight >> 1)
}

/**
 * Adds two weights. Their lowest byte has the depth of the tree: of equally heavy trees the flatter ones are joined
 * first.
 */
const joined = (one: number, other: number) =>
  ((one & ~0xff) + (other & ~0xff)) | (1 + Math.max(one & 0xff, other & 0xff))

/** @returns whether all codes are within the length limit */
function huffman(frequencies: readonly number[], lengths: Uint8Array): boolean {
  const size = frequencies.length
  const weight = new Int32Array(2 * size + 1)
  const parent = new Int32Array(2 * size + 1)
  // Nodes are counted from 1. Node 0 is lighter than all others, and ends the way up.
  const heap = new Int32Array(size + 2)
  let heaped = 0
  const add = (node: number) => {
    let place = ++heaped
    while (weight[node]! < weight[heap[place >> 1]!]!) {
      heap[place] = heap[place >> 1]!
      place >>= 1
    }
    heap[place] = node
  }
  const take = (): number => {
    const top = heap[1]!
    const node = heap[heaped--]!
    let place = 1
    for (let below = 2; below <= heaped; below = place << 1) {
      if (below < heaped && weight[heap[below + 1]!]! < weight[heap[below]!]!) below++
      if (weight[node]! < weight[heap[below]!]!) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = node
    return top
  }
  for (let node = 1; node <= size; node++) {
    weight[node] = frequencies[node - 1]! << 8
    add(node)
  }
  for (let node = size + 1; heaped > 1; node++) {
    const one = take()
    const other = take()
    parent[one] = node
    parent[other] = node
    weight[node] = joined(weight[one]!, weight[other]!)
    add(node)
  }
  let fits = true
  for (let node = 1; node <= size; node++) {
    let depth = 0
    for (let above = parent[node]!; above > 0; above = parent[above]!) depth++
    lengths[node - 1] = depth
    if (depth > LONGEST_CODE) fits = false
  }
  return fits
}

function writeUsed(out: BitWriter, used: Uint8Array): void {
  const rows = Array.from({ length: 16 }, (_, row) => used.subarray(row * 16, row * 16 + 16))
  for (const row of rows) out.put(1, row.includes(1) ? 1 : 0)
  for (const row of rows) if (row.includes(1)) for (const each of row) out.put(1, each)
}

function writeTables(out: BitWriter, { count, lengths, selectors }: Tables, alphabet: number): void {
  out.put(3, count)
  out.put(15, selectors.length)
  const recent = Array.from({ length: count }, (_, table) => table)
  for (const selector of selectors) {
    const place = recent.indexOf(selector)
    recent.splice(place, 1)
    recent.unshift(selector)
    out.put(place + 1, (1 << (place + 1)) - 2)
  }
  for (let table = 0; table < count; table++) {
    let current = lengths[table * WIDTH]!
    out.put(5, current)
    for (const length of lengths.subarray(table * WIDTH, table * WIDTH + alphabet)) {
      for (; current < length; current++) out.put(2, 2)
      for (; current > length; current--) out.put(2, 3)
      out.put(1, 0)
    }
  }
}

function writeSymbols(out: BitWriter, symbols: Uint16Array, count: number, { lengths, selectors }: Tables): void {
  const codes = codesOf(lengths)
  for (let group = 0; group < selectors.length; group++) {
    const base = selectors[group]! * WIDTH
    const to = Math.min(count, (group + 1) * GROUP)
    for (let at = group * GROUP; at < to; at++) out.put(lengths[base + symbols[at]!]!, codes[base + symbols[at]!]!)
  }
}

/** Assigns ascending codes to each table, shorter ones first. */
function codesOf(lengths: Uint8Array): Int32Array {
  const codes = new Int32Array(lengths.length)
  for (let base = 0; base < lengths.length; base += WIDTH) {
    let code = 0
    for (let length = 1; length <= LONGEST_CODE; length++, code <<= 1)
      for (let at = base; at < base + WIDTH; at++) if (lengths[at] === length) codes[at] = code++
  }
  return codes
}

/** Writes bits, the highest first. */
class BitWriter {
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0
  #pending = 0
  #held = 0

  constructor(room: number) {
    this.#bytes = new Uint8Array(room)
  }

  /** @param count 0 to 24 */
  put(count: number, value: number): void {
    this.#held = (this.#held << count) | value
    this.#pending += count
    while (this.#pending >= 8) {
      this.#pending -= 8
      this.#bytes[this.#length++] = this.#held >>> this.#pending
    }
    this.#held &= (1 << this.#pending) - 1
  }

  end(): { bytes: Uint8Array<ArrayBuffer>; bits: number } {
    const bits = this.#length * 8 + this.#pending
    if (this.#pending > 0) this.#bytes[this.#length++] = this.#held << (8 - this.#pending)
    return { bytes: this.#bytes.slice(0, this.#length), bits }
  }
}
