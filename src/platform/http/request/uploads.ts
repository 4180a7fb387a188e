import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpProblems, Problem } from '../problem.ts'

/** The bytes of a request's body, as they arrive. */
export interface Upload extends AsyncIterable<Uint8Array> {
  /** The length that the client announced, if any. */
  readonly bytes: number | undefined
}

/** The memory that an upload uses while it is read, whatever its length. */
export const UPLOAD_MEMORY = 128 << 10

/** Leaves bodies unread, whatever their type, because the handler reads them. */
export function leaveBodies(routes: FastifyInstance): void {
  routes.removeAllContentTypeParsers()
  routes.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/**
 * Returns the body of a request, which can be read once. Reading fails if the client disconnects.
 * @throws Problem `body_too_large` when it has, or turns out to have, more bytes than this
 */
export function uploadOf({ raw, headers }: FastifyRequest, mostBytes: number): Upload {
  const tooLarge = () =>
    // Stead does not wait for the announced body.
    new Problem(httpProblems.body_too_large, { limit: `${mostBytes / 1024} kB` }, { headers: { connection: 'close' } })
  const bytes = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if ((bytes ?? 0) > mostBytes) throw tooLarge()
  async function* bounded() {
    let count = 0
    try {
      for await (const piece of raw.iterator({ destroyOnReturn: false })) {
        count += (piece as Buffer).length
        if (count > mostBytes) throw tooLarge()
        yield piece as Uint8Array
      }
    } finally {
      // Discard the unread rest, so that the connection can be used again.
      raw.resume()
    }
  }
  return { bytes, [Symbol.asyncIterator]: bounded }
}
