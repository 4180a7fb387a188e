import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { open, type RepositoryKeys, seal } from './keys.ts'

/*
 * An index combines the tables of some packs in one object, so that a writer need not read the end of each pack. It may
 * be lost, because packs have their tables. The plain form has for each pack: 16 bytes of its name, its length, the
 * length of its table (4 bytes each, big-endian), and the table.
 */
export interface IndexedPack {
  readonly pack: string
  readonly sizeBytes: number
  readonly table: Buffer
}

const HEAD_BYTES = 24
/** The most bytes of an opened index: 12 million chunks. */
const MOST_BYTES = 512 << 20

const purposeOf = (index: string): string => `index ${index}`

export function sealIndex(keys: RepositoryKeys, index: string, packs: readonly IndexedPack[]): Buffer {
  const parts = packs.flatMap(({ pack, sizeBytes, table }) => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.write(pack, 'hex')
    head.writeUInt32BE(sizeBytes, 16)
    head.writeUInt32BE(table.length, 20)
    return [head, table]
  })
  return seal(keys.sealing, [zstdCompressSync(Buffer.concat(parts))], purposeOf(index))
}

/** @throws when it is not what was written */
export function openIndex(keys: RepositoryKeys, index: string, sealed: Buffer): IndexedPack[] {
  const plain = zstdDecompressSync(open(keys.sealing, sealed, purposeOf(index)), { maxOutputLength: MOST_BYTES })
  const packs: IndexedPack[] = []
  for (let at = 0; at + HEAD_BYTES <= plain.length; ) {
    const pack = plain.toString('hex', at, at + 16)
    const end = at + HEAD_BYTES + plain.readUInt32BE(at + 20)
    packs.push({ pack, sizeBytes: plain.readUInt32BE(at + 16), table: plain.subarray(at + HEAD_BYTES, end) })
    at = end
  }
  return packs
}
