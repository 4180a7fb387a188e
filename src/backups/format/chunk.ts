import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { contentName, open, type RepositoryKeys, sealedParts } from './keys.ts'

const RAW = Buffer.from([0])
const ZSTD = Buffer.from([1])
const params = { [constants.ZSTD_c_compressionLevel]: 1 }
/** Returns an upper bound. `ZSTD_compressBound` is less. */
const mostCompressed = (bytes: number): number => bytes + (bytes >> 8) + 128

/** Compresses a chunk if that saves anything, and seals it to its name. Returns consecutive parts. */
export function sealChunk({ sealing }: RepositoryKeys, id: Uint8Array, content: Uint8Array): Buffer[] {
  // With the content's length, it allocates tables and one buffer of that size, instead of many of the default size.
  const sizes = { pledgedSrcSize: content.length, chunkSize: mostCompressed(content.length) }
  const small = zstdCompressSync(content, { ...sizes, params })
  const plain = small.length < content.length * 0.98 ? [ZSTD, small] : [RAW, content]
  return sealedParts(sealing, plain, id)
}

/**
 * Returns the content of a chunk, after checking that it matches its name.
 * @throws when the chunk is not what was written
 */
export function openChunk(keys: RepositoryKeys, id: Uint8Array, sizeBytes: number, sealed: Buffer): Buffer {
  const plain = open(keys.sealing, sealed, id)
  const body = plain.subarray(1)
  const content = plain[0] === 1 ? unpack(body, sizeBytes) : body
  if (content.length !== sizeBytes || !contentName(keys, content).equals(id)) throw new Error('its content is another')
  return content
}

/**
 * Decompresses into one buffer. A size without a spare byte would allocate a second one, only to find that the input
 * has ended.
 */
const unpack = (body: Buffer, sizeBytes: number): Buffer =>
  zstdDecompressSync(body, { maxOutputLength: Math.max(1, sizeBytes), chunkSize: sizeBytes + LEAST_ROOM })
/** The smallest chunk size that Node's zlib accepts. */
const LEAST_ROOM = 64

export const idText = (id: Uint8Array): string =>
  Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('base64url')
export const idBytes = (id: string): Buffer => Buffer.from(id, 'base64url')
