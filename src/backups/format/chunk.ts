import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { nameOf, open, type RepositoryKeys, seal } from './keys.ts'

const RAW = Buffer.from([0])
const ZSTD = Buffer.from([1])
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Compressed where that saves anything, and sealed to its name. */
export function sealChunk({ sealing }: RepositoryKeys, id: Uint8Array, content: Uint8Array): Buffer {
  const small = zstdCompressSync(content, compression)
  return small.length < content.length * 0.98 ? seal(sealing, [ZSTD, small], id) : seal(sealing, [RAW, content], id)
}

/**
 * The content of a chunk, which is what its name says.
 * @throws when the chunk is not what was written
 */
export function openChunk(keys: RepositoryKeys, id: Uint8Array, sizeBytes: number, sealed: Buffer): Buffer {
  const plain = open(keys.sealing, sealed, id)
  const body = plain.subarray(1)
  const content = plain[0] === 1 ? zstdDecompressSync(body, { maxOutputLength: Math.max(1, sizeBytes) }) : body
  if (content.length !== sizeBytes || !nameOf(keys, content).equals(id)) throw new Error('its content is another')
  return content
}

export const idText = (id: Uint8Array): string =>
  Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('base64url')
export const idBytes = (id: string): Buffer => Buffer.from(id, 'base64url')
