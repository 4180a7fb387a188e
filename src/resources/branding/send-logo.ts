import type { Context } from '../kit/context.ts'
import type { AccountBrandingRow } from './tables.ts'

/** Sends the logo of an account, as it was uploaded, unless the browser has it. */
export function sendLogo(
  { logo, logo_type: type, updated_at: at }: AccountBrandingRow,
  { request, response }: Pick<Context, 'request' | 'response'>,
) {
  const etag = `"${at}"`
  response.header('etag', etag)
  if (request.headers['if-none-match'] === etag) return response.code(304).send()
  return response
    .headers({
      'content-type': type ?? 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
    })
    .send(Buffer.from(logo ?? '', 'base64'))
}
