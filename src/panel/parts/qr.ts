/*
 * QR codes (ISO/IEC 18004) of text as bytes, with error correction L, for authenticator apps to scan from a screen. The
 * names are those of the standard.
 */

/** Codewords of error correction per block, and number of blocks, of versions 1 to 10 at level L. */
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18]
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4]
const LEVEL_L = 1
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Returns the modules of a code, row by row, dark ones true. Throws when the text has more than 271 bytes. */
export function qrCode(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text)
  const version = BLOCKS.findIndex((_, at) => bytes.length + (at < 9 ? 2 : 3) <= dataLength(at + 1)) + 1
  if (version === 0) throw new RangeError('text')
  const codewords = withCorrection(dataOf(bytes, version), version)
  const codes = MASKS.map((_, mask) => draw(version, codewords, mask))
  return codes.reduce((best, code) => (penalty(code) < penalty(best) ? code : best))
}

/** Codewords of a version, without error correction. */
function dataLength(version: number): number {
  const aligned = version < 2 ? 0 : Math.floor(version / 7) + 2
  const patterns = aligned && (25 * aligned - 10) * aligned - 55 + (version < 7 ? 0 : 36)
  const bits = (16 * version + 128) * version + 64 - patterns
  return Math.floor(bits / 8) - CORRECTION[version - 1]! * BLOCKS[version - 1]!
}

function dataOf(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = []
  const put = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push((value >> at) & 1)
  }
  put(4, 4)
  put(bytes.length, version < 10 ? 8 : 16)
  for (const byte of bytes) put(byte, 8)
  const room = dataLength(version) * 8
  put(0, Math.min(4, room - bits.length))
  put(0, (8 - (bits.length % 8)) % 8)
  for (let pad = 0xec; bits.length < room; pad ^= 0xec ^ 0x11) put(pad, 8)
  return Array.from({ length: room / 8 }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((value, bit) => value * 2 + bit, 0),
  )
}

/** Multiplies in GF(2^8) with the polynomial 0x11d. */
function multiply(left: number, right: number): number {
  let product = 0
  for (let at = 7; at >= 0; at--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    product ^= ((right >> at) & 1) * left
  }
  return product
}

/** Returns data and Reed–Solomon codewords, with interleaved blocks. */
function withCorrection(data: readonly number[], version: number): number[] {
  const [count, length] = [BLOCKS[version - 1]!, CORRECTION[version - 1]!]
  let divisor = [...Array<number>(length - 1).fill(0), 1]
  for (let root = 1, at = 0; at < length; at++, root = multiply(root, 2))
    divisor = divisor.map((each, index) => multiply(each, root) ^ (divisor[index + 1] ?? 0))
  const remainderOf = (block: readonly number[]) => {
    const rest = Array<number>(length).fill(0)
    for (const byte of block) {
      const factor = byte ^ (rest.shift() as number)
      rest.push(0)
      for (const [index, each] of divisor.entries()) rest[index]! ^= multiply(each, factor)
    }
    return rest
  }
  const short = Math.floor(data.length / count)
  const blocks: number[][] = []
  for (let at = 0, from = 0; at < count; at++) {
    const to = from + short + (at < count - (data.length % count) ? 0 : 1)
    blocks.push(data.slice(from, to))
    from = to
  }
  const inTurns = (of: readonly (readonly number[])[]) =>
    Array.from({ length: Math.max(...of.map((each) => each.length)) }, (_, at) =>
      of.flatMap((each) => each[at] ?? []),
    ).flat()
  return [...inTurns(blocks), ...inTurns(blocks.map(remainderOf))]
}

/** Returns a code with this mask. */
function draw(version: number, codewords: readonly number[], mask: number): boolean[][] {
  const size = version * 4 + 17
  const dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  const fixed = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  const set = (x: number, y: number, isDark: boolean) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return
    dark[y]![x] = isDark
    fixed[y]![x] = true
  }
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  const square = (centerX: number, centerY: number, radius: number, light: readonly number[]) => {
    for (let y = -radius; y <= radius; y++)
      for (let x = -radius; x <= radius; x++)
        set(centerX + x, centerY + y, !light.includes(Math.max(Math.abs(x), Math.abs(y))))
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, [2, 4])
  const places = alignment(version, size)
  const last = places.length - 1
  for (const [row, y] of places.entries())
    for (const [column, x] of places.entries())
      if (!((row === 0 && (column === 0 || column === last)) || (row === last && column === 0))) square(x, y, 2, [1])
  formatAndVersion(version, mask, size, set)
  // The data runs upward and downward in columns of two.
  let at = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step
        if (fixed[y]![x]) continue
        const bit = ((codewords[at >> 3] ?? 0) >> (7 - (at & 7))) & 1
        at++
        dark[y]![x] = (bit === 1) !== MASKS[mask]!(x, y)
      }
  }
  return dark
}

function alignment(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((size - 13) / (count * 2 - 2)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - (count - 2 - at) * step)]
}

/** Writes the format, twice, and from version 7 on the version, twice. */
function formatAndVersion(
  version: number,
  mask: number,
  size: number,
  set: (x: number, y: number, isDark: boolean) => void,
): void {
  const remainder = (value: number, times: number, polynomial: number, top: number) => {
    let rest = value
    for (let at = 0; at < times; at++) rest = (rest << 1) ^ ((rest >> top) * polynomial)
    return rest
  }
  const format = (LEVEL_L << 3) | mask
  const bits = ((format << 10) | remainder(format, 10, 0x537, 9)) ^ 0x5412
  const isSet = (at: number) => ((bits >> at) & 1) === 1
  for (let at = 0; at < 15; at++) {
    if (at < 6) set(8, at, isSet(at))
    else if (at < 8) set(8, at + 1, isSet(at))
    else set(at === 8 ? 7 : 14 - at, 8, isSet(at))
    if (at < 8) set(size - 1 - at, 8, isSet(at))
    else set(8, size - 15 + at, isSet(at))
  }
  set(8, size - 8, true)
  if (version < 7) return
  const known = (version << 12) | remainder(version, 12, 0x1f25, 11)
  for (let at = 0; at < 18; at++) {
    const [near, far] = [size - 11 + (at % 3), Math.floor(at / 3)]
    set(near, far, ((known >> at) & 1) === 1)
    set(far, near, ((known >> at) & 1) === 1)
  }
}

/** Returns the penalty of a code: long runs, blocks, patterns like a finder, too much of one color. */
function penalty(code: readonly (readonly boolean[])[]): number {
  const lines = [...code, ...code.map((_, x) => code.map((row) => row[x] as boolean))].map((line) =>
    line.map((each) => (each ? '1' : '0')).join(''),
  )
  let sum = 0
  for (const line of lines) {
    for (const [run] of line.matchAll(/1{5,}|0{5,}/g)) sum += run.length - 2
    for (const pattern of ['10111010000', '00001011101'])
      for (let at = line.indexOf(pattern); at >= 0; at = line.indexOf(pattern, at + 1)) sum += 40
  }
  const size = code.length
  let darks = 0
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const here = code[y]![x]
      if (here) darks++
      if (
        y + 1 < size &&
        x + 1 < size &&
        here === code[y]![x + 1] &&
        here === code[y + 1]![x] &&
        here === code[y + 1]![x + 1]
      )
        sum += 3
    }
  return sum + Math.floor(Math.abs((darks / size ** 2) * 20 - 10)) * 10
}
