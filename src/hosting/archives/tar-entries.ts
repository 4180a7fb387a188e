import { ArchiveRefused } from './unpacked-tree.ts'

/** One entry of a tar archive. */
export interface TarEntry {
  readonly name: string
  /** `link` stands for both kinds of links, `other` for devices, pipes and what is not known. */
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly sizeBytes: number
  /** The file's bytes; what is not read is skipped. */
  readonly content: AsyncIterable<Buffer>
}

const blockBytes = 512
const maxHeaderBytes = 64 * 1024
const maxPaddingBytes = 1024 * 1024

/**
 * Reads a tar stream (POSIX ustar and pax, GNU long names; no sparse files), entry by entry. Only what unpacking needs:
 * owners, times and modes are left out.
 * @throws ArchiveRefused when it is damaged or cut off
 */
export async function* tarEntries(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = blockReader(source)
  let longName: string | undefined
  let pax: Map<string, string> = new Map()
  let zeroBlocks = 0
  for (;;) {
    const header = await reader.exactly(blockBytes)
    if (header.every((byte) => byte === 0)) {
      zeroBlocks += 1
      if (zeroBlocks < 2) continue
      // Reading on to the end is what makes gzip compare its checksum.
      await reader.drain(maxPaddingBytes)
      return
    }
    if (!checksumHolds(header)) throw new ArchiveRefused('not a valid tar archive')
    const flag = String.fromCharCode(header[156] || 48)
    const sizeBytes = Number(pax.get('size') ?? number(header, 124, 12))
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new ArchiveRefused('a tar entry without a valid size')
    if ('xgLK'.includes(flag)) {
      if (sizeBytes > maxHeaderBytes) throw new ArchiveRefused('a tar header that is too long')
      const body = (await reader.exactly(padded(sizeBytes))).subarray(0, sizeBytes)
      if (flag === 'x') pax = paxRecords(body)
      if (flag === 'L') longName = text(body, 0, sizeBytes)
      continue
    }
    const name = pax.get('path') ?? longName ?? shortName(header)
    const sparse = [...pax.keys()].some((key) => key.startsWith('GNU.sparse'))
    const content = reader.upTo(sizeBytes)
    yield { name, type: sparse ? 'other' : typeOf(flag, name), sizeBytes, content }
    for await (const _rest of content);
    await reader.exactly(padded(sizeBytes) - sizeBytes)
    longName = undefined
    pax = new Map()
  }
}

const padded = (sizeBytes: number) => Math.ceil(sizeBytes / blockBytes) * blockBytes

function typeOf(flag: string, name: string): TarEntry['type'] {
  if (flag === '5' || (flag === '0' && name.endsWith('/'))) return 'folder'
  if (flag === '0' || flag === '7') return 'file'
  return flag === '1' || flag === '2' ? 'link' : 'other'
}

function shortName(header: Buffer): string {
  const prefix = text(header, 257, 6) === 'ustar' && header[262] === 0 ? text(header, 345, 155) : ''
  return prefix ? `${prefix}/${text(header, 0, 100)}` : text(header, 0, 100)
}

function text(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? field.length : end)
}

/** Octal text, or GNU's binary form (first bit set) for what does not fit. */
function number(block: Buffer, start: number, length: number): number {
  if (block[start]! & 0x80) return Number(block.subarray(start + length - 8, start + length).readBigUInt64BE())
  const digits = text(block, start, length).trim()
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : Number.NaN
}

function checksumHolds(header: Buffer): boolean {
  let sum = 8 * 32
  for (let index = 0; index < blockBytes; index += 1) if (index < 148 || index >= 156) sum += header[index]!
  return sum === number(header, 148, 8)
}

function paxRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>()
  for (let start = 0; start < body.length; ) {
    const space = body.indexOf(32, start)
    const length = space === -1 ? Number.NaN : Number(body.toString('latin1', start, space))
    if (!Number.isInteger(length) || length <= space - start || start + length > body.length)
      throw new ArchiveRefused('a tar header that is not valid')
    const record = body.toString('utf8', space + 1, start + length - 1)
    const equals = record.indexOf('=')
    records.set(record.slice(0, equals), record.slice(equals + 1))
    start += length
  }
  return records
}

function blockReader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  const fill = async () => {
    const { value, done } = await chunks.next()
    if (done) throw new ArchiveRefused('the archive is cut off')
    rest = value
  }
  async function* upTo(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (rest.length === 0) await fill()
      const part = rest.subarray(0, left)
      rest = rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }
  return {
    /** Bytes up to `length`, resumable: iterating again goes on where the last reader stopped. */
    upTo(length: number): AsyncIterable<Buffer> {
      const parts = upTo(length)
      return { [Symbol.asyncIterator]: () => ({ next: () => parts.next() }) }
    },
    async drain(maxBytes: number): Promise<void> {
      let drained = 0
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        drained += next.value.length
        if (drained > maxBytes) throw new ArchiveRefused('data after the end of the archive')
      }
    },
    async exactly(length: number): Promise<Buffer> {
      const parts: Buffer[] = []
      for await (const part of upTo(length)) parts.push(part)
      return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    },
  }
}
