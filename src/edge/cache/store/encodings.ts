import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { declareMemory } from '../../../platform/process-memory.ts'

/** Content codings of stored bodies. The index is the position of a body in its entry. */
export const codings = ['identity', 'br', 'zstd', 'gzip'] as const
export const IDENTITY = 0

const LOWEST_USEFUL_BYTES = 1024
/** A body that shrinks less does not deserve a second copy. */
const WORTH_IT = 0.9

/** Browsers send few and short values. A flood of invented ones clears the table. */
const MOST_KNOWN = 512
const MOST_CHARACTERS = 256
const known = new Map<string, readonly number[]>()
declareMemory(() => known.clear())

/**
 * Returns the indexes of the codings that a client accepts, best first. Identity is omitted, because it always works
 * (RFC 9110 §12.5.3).
 */
export function acceptedCodings(header: string): readonly number[] {
  if (header === '') return []
  const remembered = known.get(header)
  if (remembered) return remembered
  // A client with such a long list gets no compression.
  if (header.length > MOST_CHARACTERS) return []
  if (known.size >= MOST_KNOWN) known.clear()
  const accepted = readAccepted(header)
  known.set(header, accepted)
  return accepted
}

function readAccepted(header: string): number[] {
  const quality = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const q = parameters.find((each) => each.startsWith('q='))
    quality.set(name === 'x-gzip' ? 'gzip' : name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const of = (index: number) => quality.get(codings[index] as string) ?? quality.get('*') ?? 0
  return [1, 2, 3].filter((index) => of(index) > 0).sort((a, b) => of(b) - of(a) || a - b)
}

const COMPRESSIBLE =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml)|javascript|x-javascript|wasm|manifest\+json|vnd\.ms-fontobject)|image\/(?:svg\+xml|x-icon|vnd\.microsoft\.icon|bmp)|font\/(?:ttf|otf))/i

export const isCompressible = (contentType: string, bytes: number): boolean =>
  bytes >= LOWEST_USEFUL_BYTES && COMPRESSIBLE.test(contentType)

const compressors: Record<number, (body: Buffer) => Promise<Buffer>> = {
  // Quality 5 takes 1 ms for 30 kB of HTML. 11, which is meant for files on disk, takes 60 ms.
  1: (body) =>
    promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  2: (body) => promisify(zstdCompress)(body) as Promise<Buffer>,
  3: (body) => promisify(gzip)(body) as Promise<Buffer>,
}

/** Makes compressed copies, a few at a time on the thread pool, never while a visitor waits. */
export interface Compression {
  /**
   * Requests a body in a coding. Calls `done` later with the copy (a slice of zlib's larger buffer), or with undefined
   * when it is not worth it. Returns false, and does not call it, when the queue is full.
   */
  request(body: Buffer, coding: number, done: (copy: Buffer | undefined) => void): boolean
}

/** @param atOnce how many run at once @param waiting how many may wait */
export function createCompression(atOnce = 2, waiting = 256): Compression {
  const queue: (() => Promise<void>)[] = []
  let running = 0
  const next = () => {
    const job = running < atOnce ? queue.shift() : undefined
    if (!job) return
    running++
    job().finally(() => {
      running--
      next()
    })
  }
  return {
    request(body, coding, done) {
      if (queue.length >= waiting) return false
      queue.push(async () => {
        const copy = await (compressors[coding] as (body: Buffer) => Promise<Buffer>)(body).catch(() => undefined)
        done(copy && copy.length < body.length * WORTH_IT ? copy : undefined)
      })
      next()
      return true
    },
  }
}
