import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem, problems } from '../problem.ts'

/** The bytes of a request's body, as they come. */
export interface Upload extends AsyncIterable<Uint8Array> {
  /** As the client has announced; undefined: it has not. */
  readonly bytes: number | undefined
}

/** What an upload holds of memory while it goes through, whatever its length. */
export const UPLOAD_MEMORY = 128 << 10

/** Leaves bodies unread, whatever their type: they are the handler's. */
export function leaveBodies(routes: FastifyInstance): void {
  routes.removeAllContentTypeParsers()
  routes.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/**
 * Returns the body of a request, which is read once. Who reads it ends with a failure where the client goes away.
 * @throws Problem `body_too_large` when it has, or turns out to have, more bytes than this
 */
export function uploadOf({ raw, headers }: FastifyRequest, mostBytes: number): Upload {
  const tooLarge = () =>
    // what was announced is not waited for
    new Problem(problems.body_too_large, { limit: `${mostBytes / 1024} kB` }, { headers: { connection: 'close' } })
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
      // what nobody wants is dropped, so that the connection can be used again
      raw.resume()
    }
  }
  return { bytes, [Symbol.asyncIterator]: bounded }
}
