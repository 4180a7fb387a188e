import { randomBytes } from 'node:crypto'
import { open, type RepositoryKeys, SEAL_BYTES, seal } from './keys.ts'

/*
 * A pack is an object with many chunks: sealed chunks one after the other, then a sealed table of them, then the table's length (4 bytes) and
 * `stpack01`. The table makes a pack whole in itself: every index can be made anew from packs.
 *
 * A row of the table: 32 bytes of name; where it begins, its length as it lies there, its length as content (4 bytes each, big-endian).
 */

/** Where a chunk lies in its pack. */
export interface PackedChunk {
  /** 32 bytes. */
  readonly id: Buffer
  readonly offset: number
  readonly sealedBytes: number
  readonly sizeBytes: number
}

export interface Pack {
  readonly id: string
  readonly bytes: Uint8Array
  /** Rows of its table, plain. */
  readonly table: Buffer
}

const MAGIC = Buffer.from('stpack01')
const FOOTER_BYTES = 4 + MAGIC.length
const ROW_BYTES = 44
/** A pack is closed with the chunk that makes it larger. */
export const PACK_BYTES = 16 << 20
/** So that the table of a pack of tiny files is small, too: 1.4 MB. */
const MOST_CHUNKS = 1 << 15
/** Read from the end of a pack at once: holds the table of one with 1,400 chunks. */
const TAIL_BYTES = 64 << 10

const purposeOf = (pack: string): string => `table of pack ${pack}`

/** Fills one pack after the other. */
export class PackBuilder {
  readonly #keys: RepositoryKeys
  #parts: Buffer[] = []
  #rows: Buffer[] = []
  #bytes = 0

  constructor(keys: RepositoryKeys) {
    this.#keys = keys
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  get isFull(): boolean {
    return this.#bytes >= PACK_BYTES || this.#rows.length >= MOST_CHUNKS
  }

  add(id: Uint8Array, sealed: Buffer, sizeBytes: number): void {
    const row = Buffer.allocUnsafe(ROW_BYTES)
    row.set(id)
    row.writeUInt32BE(this.#bytes, 32)
    row.writeUInt32BE(sealed.length, 36)
    row.writeUInt32BE(sizeBytes, 40)
    this.#rows.push(row)
    this.#parts.push(sealed)
    this.#bytes += sealed.length
  }

  /** What was added since the last pack, as one. */
  close(): Pack {
    const id = randomBytes(16).toString('hex')
    const table = Buffer.concat(this.#rows)
    const sealed = seal(this.#keys.sealing, [table], purposeOf(id))
    const footer = Buffer.alloc(4)
    footer.writeUInt32BE(sealed.length)
    // not of the pool of buffers: it moves to another thread
    const bytes = Buffer.allocUnsafeSlow(this.#bytes + sealed.length + footer.length + MAGIC.length)
    let at = 0
    for (const part of [...this.#parts, sealed, footer, MAGIC]) at += part.copy(bytes, at)
    this.#parts = []
    this.#rows = []
    this.#bytes = 0
    return { id, bytes, table }
  }
}

export function* rowsOf(table: Buffer): Generator<PackedChunk> {
  for (let at = 0; at + ROW_BYTES <= table.length; at += ROW_BYTES)
    yield {
      id: table.subarray(at, at + 32),
      offset: table.readUInt32BE(at + 32),
      sealedBytes: table.readUInt32BE(at + 36),
      sizeBytes: table.readUInt32BE(at + 40),
    }
}

/**
 * The table of a pack, from its end.
 * @param read bytes from the end of the pack
 * @throws when the pack is not whole
 */
export async function readTable(
  keys: RepositoryKeys,
  pack: string,
  read: (bytes: number) => Promise<Buffer | undefined>,
): Promise<Buffer> {
  let tail = await read(TAIL_BYTES)
  if (!tail) throw new Error('it is not there')
  if (tail.length < FOOTER_BYTES + SEAL_BYTES || !tail.subarray(-MAGIC.length).equals(MAGIC))
    throw new Error('its end is missing')
  const sealedBytes = tail.readUInt32BE(tail.length - FOOTER_BYTES)
  if (sealedBytes > SEAL_BYTES + MOST_CHUNKS * ROW_BYTES) throw new Error('its end is damaged')
  if (sealedBytes + FOOTER_BYTES > tail.length) tail = (await read(sealedBytes + FOOTER_BYTES)) ?? Buffer.alloc(0)
  if (sealedBytes + FOOTER_BYTES > tail.length) throw new Error('it is cut off')
  const end = tail.length - FOOTER_BYTES
  return open(keys.sealing, tail.subarray(end - sealedBytes, end), purposeOf(pack))
}
