import { crc32, deflateRawSync } from 'node:zlib'

/**
 * An entry of a test archive: `mode` as in stat (type bits included), `linkTo` for links. Not validated, on purpose.
 */
export interface MadeEntry {
  readonly name: string
  readonly content?: string | Buffer
  readonly mode?: number
  readonly linkTo?: string
  /** Overrides what the archive claims about the entry. */
  readonly claims?: { crc32?: number; sizeBytes?: number }
}

/**
 * Compressed contents: releases of one core share nearly all of theirs, and compressing all takes seconds of a
 * processor.
 */
const packedContents = new WeakMap<Buffer, Buffer>()

function pack(content: Buffer): Buffer {
  const packed = packedContents.get(content) ?? deflateRawSync(content)
  packedContents.set(content, packed)
  return packed
}

/** Creates a zip with exactly these entries, evil names included. */
export function makeZip(entries: readonly MadeEntry[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { name, content = '', mode = 0o100644, linkTo, claims } of entries) {
    const shown = linkTo ?? content
    const plain = Buffer.isBuffer(shown) ? shown : Buffer.from(shown)
    const packed = pack(plain)
    const nameBytes = Buffer.from(name)
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(0x800, 2)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt32LE(claims?.crc32 ?? crc32(plain), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(claims?.sizeBytes ?? plain.length, 18)
    shared.writeUInt16LE(nameBytes.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, nameBytes, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((linkTo === undefined ? mode : 0o120777) << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, tail, nameBytes]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** Creates an uncompressed tar (ustar) with exactly these entries; names up to 100 bytes. */
export function makeTar(entries: readonly (MadeEntry & { flag?: string })[]): Buffer {
  const blocks = entries.map(({ name, content = '', linkTo, flag, claims }) => {
    const plain = linkTo === undefined ? Buffer.from(content) : Buffer.alloc(0)
    const header = Buffer.alloc(512)
    header.write(name, 0)
    header.write('0000644\0', 100)
    header.write(`${(claims?.sizeBytes ?? plain.length).toString(8).padStart(11, '0')}\0`, 124)
    header.write('        ', 148)
    header.write(flag ?? (linkTo === undefined ? (name.endsWith('/') ? '5' : '0') : '2'), 156)
    header.write(linkTo ?? '', 157)
    header.write('ustar\x0000', 257, 'latin1')
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return Buffer.concat([header, plain, Buffer.alloc((512 - (plain.length % 512)) % 512)])
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}
