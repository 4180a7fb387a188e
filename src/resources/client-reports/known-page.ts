import { hash } from 'node:crypto'
import type { Context } from '../kit/context.ts'

/** Sets the `ETag` of a page, and returns whether the client has it. */
export function isKnownPage({ request, response }: Pick<Context, 'request' | 'response'>, page: string): boolean {
  const etag = `"${hash('sha256', page, 'base64url')}"`
  response.header('etag', etag)
  return request.headers['if-none-match'] === etag
}
