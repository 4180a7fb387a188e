import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { declareMemory } from '../../../platform/process-memory.ts'

/** Content codings of stored bodies; the index is the place of a body in its entry. */
export const codings = ['identity', 'br', 'zstd', 'gzip'] as const
export const IDENTITY = 0

const LOWEST_USEFUL_BYTES = 1024
/** A body that shrinks less is not worth a second copy. */
const WORTH_IT = 0.9

/** Headers of browsers are few and short; a flood of made-up ones starts the table over. */
const MOST_KNOWN = 512
const MOST_CHARACTERS = 256
const known = new Map<string, readonly number[]>()
declareMemory(() => known.clear())

/** Indexes of the codings that a client takes, best first; identity is left out, because it always goes (RFC 9110 §12.5.3). */
export function acceptedCodings(header: string): readonly number[] {
  if (header === '') return []
  const remembered = known.get(header)
  if (remembered) return remembered
  // who takes so many codings gets none of ours
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
  // Quality 5 takes 30 kB of HTML in 1 ms; 11, which is meant for files on disk, 60 ms.
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
   * Asks for a body in a coding. `done` gets it later (a part of the larger piece that zlib gives), undefined when it is not worth it; it is not called when too much waits
   * already (false).
   */
  request(body: Buffer, coding: number, done: (copy: Buffer | undefined) => void): boolean
}

/** @param atOnce how many run at a time @param waiting how many may wait */
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
