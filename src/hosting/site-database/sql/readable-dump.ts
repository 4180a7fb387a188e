import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { bunzip2 } from './bunzip2.ts'
import { UnreadableSql } from './sql-tokens.ts'

/** Enough to recognize a file by its beginning: a tar file's signature comes last. */
const HEAD_BYTES = 512
/** The most layers of compression: some programs compress what is already compressed. */
const MOST_LAYERS = 3
/** The limits for an unpacked file: a multiple of its size, and additional bytes. */
const BOUNDS = { mostTimes: 200, spareBytes: 1 << 30 }
/** The first block of bzip2, or the end of a stream without any. */
const BZIP2_BLOCKS: readonly string[] = ['1AY&SY', '\x17rE8P\x90']
/** The memory that zstd may use: 128 MB. */
const MOST_WINDOW_LOG = 27

/**
 * Yields the text of a dump as UTF-8, from any form: gzip, bzip2, zstd, with a byte order mark, or UTF-16. @throws
 * UnreadableSql
 */
export async function* readableDump(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  bounds = BOUNDS,
): AsyncGenerator<Uint8Array, void, void> {
  const sizes = { ...bounds, packed: 0, unpacked: 0 }
  const counted = async function* () {
    for await (const piece of source) {
      sizes.packed += piece.length
      yield piece
    }
  }
  yield* unpacked(counted(), 0, sizes)
}

async function* unpacked(
  source: AsyncIterable<Uint8Array>,
  layer: number,
  sizes: typeof BOUNDS & { readonly packed: number; unpacked: number },
): AsyncGenerator<Uint8Array, void, void> {
  const { head, all } = await beginning(source)
  refuseOthers(head)
  const unpack = unpackerOf(head)
  if (!unpack) {
    yield* inUtf8(head, all)
    return
  }
  if (layer >= MOST_LAYERS) throw new UnreadableSql('The file is packed too often', 'Unpack it first.')
  const bounded = async function* () {
    for await (const piece of unpack(all)) {
      sizes.unpacked += piece.length
      if (sizes.unpacked > sizes.packed * sizes.mostTimes + sizes.spareBytes)
        throw new UnreadableSql(
          `The packed file grows to more than ${sizes.mostTimes} times its size`,
          'Unpack it first.',
        )
      yield piece
    }
  }
  yield* unpacked(bounded(), layer + 1, sizes)
}

/** Returns the first bytes, and all bytes including them. */
async function beginning(source: AsyncIterable<Uint8Array>) {
  const pieces = source[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  let isOver = false
  while (head.length < HEAD_BYTES && !isOver) {
    const { done, value } = await pieces.next()
    // A copy, because the memory of the piece may be reused.
    if (done) isOver = true
    else head = Buffer.concat([head, value])
  }
  const all = async function* (): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield head
      while (!isOver) {
        const { done, value } = await pieces.next()
        if (done) return
        yield value
      }
    } finally {
      await pieces.return?.()
    }
  }
  return { head, all: all() }
}

type Unpack = (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

function unpackerOf(head: Buffer): Unpack | undefined {
  const begin = head.toString('latin1', 0, 10)
  if (begin.startsWith('\x1f\x8b')) return (source) => through(source, createGunzip(), 'gzip')
  if (begin.startsWith('\x28\xb5\x2f\xfd'))
    return (source) =>
      through(source, createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MOST_WINDOW_LOG } }), 'zstd')
  const isBzip2 = /^BZh[1-9]$/.test(begin.slice(0, 4)) && BZIP2_BLOCKS.includes(begin.slice(4))
  if (isBzip2) return bunzip2
  return undefined
}

const OTHERS: readonly [begin: string, name: string][] = [
  ['PK\x03\x04', 'a zip file'],
  ['\xfd7zXZ', 'an xz file'],
  ['7z\xbc\xaf', 'a 7z file'],
  ['Rar!', 'a rar file'],
  ['SQLite format 3', 'a database of SQLite'],
  ['PGDMP', 'a dump of PostgreSQL'],
]

function refuseOthers(head: Buffer): void {
  const begin = head.toString('latin1', 0, 20)
  const isTar = head.toString('latin1', 257, 262) === 'ustar'
  const other = isTar ? 'a tar file' : OTHERS.find(([mark]) => begin.startsWith(mark))?.[1]
  if (other !== undefined)
    throw new UnreadableSql(
      `The file is ${other}`,
      /database|dump/.test(other) ? 'Export the database with mysqldump.' : 'Unpack it, and use the .sql file in it.',
    )
}

/** Passes bytes through one of the platform's decoders. Translates its errors. */
async function* through(
  source: AsyncIterable<Uint8Array>,
  decoder: Transform,
  name: string,
): AsyncGenerator<Uint8Array, void, void> {
  const copies = async function* () {
    // A copy: the decoder works while the next piece is read into the same memory.
    for await (const piece of source) yield Buffer.from(piece)
  }
  pipeline(Readable.from(copies()), decoder, () => {})
  try {
    for await (const piece of decoder) yield piece as Uint8Array
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'Z_BUF_ERROR') throw new UnreadableSql(`The ${name} file is cut off`, 'Copy the file again.')
    if (/^Z_|ZSTD/.test(code))
      throw new UnreadableSql(`The ${name} file is damaged`, 'Copy the file again, or unpack it first.')
    throw error
  }
}

/** Removes the byte order mark that editors put before a text, and converts the UTF-16 of PowerShell. */
async function* inUtf8(head: Buffer, all: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const charset = utf16Of(head)
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
  const decoder = charset === undefined ? undefined : new TextDecoder(charset)
  let isFirst = true
  for await (const piece of all) {
    if (decoder) yield Buffer.from(decoder.decode(piece, { stream: true }))
    else yield isFirst && hasMark ? piece.subarray(3) : piece
    isFirst = false
  }
  if (decoder) yield Buffer.from(decoder.decode())
}

function utf16Of(head: Buffer): string | undefined {
  if (head.length < 4) return undefined
  const [first, second] = [head[0], head[1]]
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0 && second !== 0 && head[2] === 0) return 'utf-16be'
  return first !== 0 && second === 0 && head[3] === 0 ? 'utf-16le' : undefined
}
