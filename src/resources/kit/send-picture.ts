import type { FastifyReply } from 'fastify'
import type { Context } from './context.ts'

export interface SentPicture {
  /** JPEG, of a page that may be hostile. */
  readonly picture: Buffer
  /** Names this picture, and no other of the endpoint. */
  readonly version: string
  /** How long browsers need not ask for it again. */
  readonly maxAgeS: number
}

/** Sends a picture that only the caller may see, or 304 to a browser that has it. */
export function sendPicture(
  { request, response }: Pick<Context, 'request' | 'response'>,
  { picture, version, maxAgeS }: SentPicture,
): FastifyReply {
  const etag = `"${version}"`
  response.header('etag', etag)
  if (request.headers['if-none-match'] === etag) return response.code(304).send(null)
  return response
    .headers({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'cache-control': `private, max-age=${maxAgeS}`,
    })
    .send(picture)
}
