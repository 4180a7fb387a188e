import { randomBytes } from 'node:crypto'
import { open, type RepositoryKeys, SEAL_BYTES, seal } from './keys.ts'

/*
 * A pack is an object with many chunks: the sealed chunks, then a sealed table of them, then the table's length (4
 * bytes) and `stpack01`. The table makes a pack self-contained: every index can be rebuilt from packs.
 *
 * A row of the table: 32 bytes of name; the chunk's offset, its stored length, its length as content (4 bytes each,
 * big-endian).
 */

/** The place of a chunk in its pack. */
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
  /** The rows of its table, unsealed. */
  readonly table: Buffer
}

const MAGIC = Buffer.from('stpack01')
const FOOTER_BYTES = 4 + MAGIC.length
const ROW_BYTES = 44
/** The size beyond which a pack is closed. */
export const PACK_BYTES = 16 << 20
/** Limits the table of a pack of tiny files, to 1.4 MB. */
const MOST_CHUNKS = 1 << 15
/** The bytes read from the end of a pack at once. They contain the table of a pack with 1,400 chunks. */
const TAIL_BYTES = 64 << 10

const purposeOf = (pack: string): string => `table of pack ${pack}`

/** The memory for a pack, except in very unlikely cases: one larger chunk, and the largest table. */
const ROOM_BYTES = PACK_BYTES + (6 << 20)

/**
 * Allocates shared memory, which callers can reuse. New buffers would make the garbage collector scan the whole heap
 * every few packs.
 */
export const newRoom = (bytes = ROOM_BYTES): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes))

/** Fills one pack after another. */
export class PackBuilder {
  readonly #keys: RepositoryKeys
  readonly #nextRoom: () => Uint8Array
  #room: Uint8Array | undefined
  #rows: Buffer[] = []
  #bytes = 0

  /** @param nextRoom returns memory for a pack, with any content */
  constructor(keys: RepositoryKeys, nextRoom: () => Uint8Array = newRoom) {
    this.#keys = keys
    this.#nextRoom = nextRoom
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  get isFull(): boolean {
    return this.#bytes >= PACK_BYTES || this.#rows.length >= MOST_CHUNKS
  }

  /**
   * Adds a chunk.
   * @param sealed consecutive parts
   */
  add(id: Uint8Array, sealed: readonly Uint8Array[], sizeBytes: number): void {
    const offset = this.#bytes
    for (const part of sealed) this.#append(part)
    const row = Buffer.allocUnsafe(ROW_BYTES)
    row.set(id)
    row.writeUInt32BE(offset, 32)
    row.writeUInt32BE(this.#bytes - offset, 36)
    row.writeUInt32BE(sizeBytes, 40)
    this.#rows.push(row)
  }

  /** Returns the chunks added since the last pack as a pack. */
  close(): Pack {
    const id = randomBytes(16).toString('hex')
    const table = Buffer.concat(this.#rows)
    const sealed = seal(this.#keys.sealing, [table], purposeOf(id))
    const footer = Buffer.alloc(4)
    footer.writeUInt32BE(sealed.length)
    for (const part of [sealed, footer, MAGIC]) this.#append(part)
    const bytes = (this.#room as Uint8Array).subarray(0, this.#bytes)
    this.#room = undefined
    this.#rows = []
    this.#bytes = 0
    return { id, bytes, table }
  }

  #append(part: Uint8Array): void {
    let room = this.#room ?? this.#nextRoom()
    const end = this.#bytes + part.length
    if (end > room.length) {
      const larger = newRoom(2 * end)
      larger.set(room.subarray(0, this.#bytes))
      room = larger
    }
    room.set(part, this.#bytes)
    this.#room = room
    this.#bytes = end
  }
}

/**
 * Yields rows.
 * @param offset only rows of chunks that begin at or after it
 */
export function* packedChunks(table: Buffer, offset = 0): Generator<PackedChunk> {
  for (let at = firstRow(table, offset); at + ROW_BYTES <= table.length; at += ROW_BYTES)
    yield {
      id: table.subarray(at, at + 32),
      offset: table.readUInt32BE(at + 32),
      sealedBytes: table.readUInt32BE(at + 36),
      sizeBytes: table.readUInt32BE(at + 40),
    }
}

/** Returns the place of the first row. Rows are in the order of their chunks' offsets. */
function firstRow(table: Buffer, offset: number): number {
  let [from, to] = [0, Math.floor(table.length / ROW_BYTES)]
  while (from < to) {
    const middle = (from + to) >> 1
    if (table.readUInt32BE(middle * ROW_BYTES + 32) < offset) from = middle + 1
    else to = middle
  }
  return from * ROW_BYTES
}

/**
 * Reads the table of a pack from its end.
 * @param read returns bytes from the end of the pack
 * @throws when the pack is incomplete
 */
export async function readPackTable(
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
