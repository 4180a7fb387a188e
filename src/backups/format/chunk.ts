import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { nameOf, open, type RepositoryKeys, sealedParts } from './keys.ts'

const RAW = Buffer.from([0])
const ZSTD = Buffer.from([1])
const params = { [constants.ZSTD_c_compressionLevel]: 1 }
/** `ZSTD_compressBound` is less. */
const mostCompressed = (bytes: number): number => bytes + (bytes >> 8) + 128

/** Compressed where that saves anything, and sealed to its name: in parts that follow each other. */
export function sealChunk({ sealing }: RepositoryKeys, id: Uint8Array, content: Uint8Array): Buffer[] {
  // told how much there is and will be, it makes tables and a buffer of that size, and not many of the usual one
  const sizes = { pledgedSrcSize: content.length, chunkSize: mostCompressed(content.length) }
  const small = zstdCompressSync(content, { ...sizes, params })
  const plain = small.length < content.length * 0.98 ? [ZSTD, small] : [RAW, content]
  return sealedParts(sealing, plain, id)
}

/**
 * The content of a chunk, which is what its name says.
 * @throws when the chunk is not what was written
 */
export function openChunk(keys: RepositoryKeys, id: Uint8Array, sizeBytes: number, sealed: Buffer): Buffer {
  const plain = open(keys.sealing, sealed, id)
  const body = plain.subarray(1)
  const content = plain[0] === 1 ? unpack(body, sizeBytes) : body
  if (content.length !== sizeBytes || !nameOf(keys, content).equals(id)) throw new Error('its content is another')
  return content
}

/** Into one buffer; a byte more, or another one is made to see that there is no more. */
const unpack = (body: Buffer, sizeBytes: number): Buffer =>
  zstdDecompressSync(body, { maxOutputLength: Math.max(1, sizeBytes), chunkSize: sizeBytes + LEAST_ROOM })
/** zlib of Node takes no smaller one. */
const LEAST_ROOM = 64

export const idText = (id: Uint8Array): string =>
  Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('base64url')
export const idBytes = (id: string): Buffer => Buffer.from(id, 'base64url')
