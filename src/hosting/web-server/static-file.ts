import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Edits } from '../htaccess/htaccess.ts'
import type { Found } from '../site-files/open-inside.ts'
import { type FileRange, isNotModified, rangeOf, validatorsOf } from './conditions.ts'
import { mediaType } from './media-types.ts'
import { queryOf } from './served-paths.ts'
import { sendPage } from './status-pages.ts'

/**
 * Up to this size, one read and one write are cheaper than a stream. Also the most that a stream buffers for a slow
 * visitor.
 */
const WHOLE_BYTES = 65_536

const FONT = /\.(?:eot|otf|tt[cf]|woff2?)$/i
/** Files that are stored compressed, and shown as their contents. */
const GZIPPED = /\.svgz$/i

/**
 * Answers a request for a file: conditionally, partially, or whole. The file's size is fixed when the response begins.
 * A file that shrinks meanwhile ends the connection, so that the response does not look complete.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  found: Found,
  name: string,
  edits?: Edits,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendPage(request, response, 405, ['Allow', 'GET, HEAD'])
    return
  }
  const { size } = found.stats
  const validators = validatorsOf(found.stats)
  // biome-ignore format: pairs
  const headers = [
    'X-Stead-Renderer', 'static', 'ETag', validators.etag, 'Last-Modified', validators.lastModified,
    'Cache-Control', cacheControl(name, request.url as string), 'X-Content-Type-Options', 'nosniff', 'Accept-Ranges', 'bytes',
  ]
  // Without it, browsers refuse fonts at a site's other names and behind a CDN.
  if (FONT.test(name)) headers.push('Access-Control-Allow-Origin', '*')
  if (GZIPPED.test(name)) headers.push('Content-Encoding', 'gzip')
  const type = edits?.type ?? mediaType(name)
  const asRuled = (raw: string[]) => edits?.headers(raw, 200, type) ?? raw
  if (isNotModified(request.headers, validators)) {
    response.writeHead(304, asRuled(headers)).end()
    return
  }
  const range = request.method === 'GET' ? rangeOf(request.headers, size, validators) : undefined
  if (range === 'unsatisfiable') {
    sendPage(request, response, 416, ['Content-Range', `bytes */${size}`])
    return
  }
  const part = range ?? { start: 0, end: size - 1 }
  headers.push('Content-Type', type)
  const ruled = asRuled(headers)
  ruled.push('Content-Length', String(part.end - part.start + 1))
  if (range) ruled.push('Content-Range', `bytes ${part.start}-${part.end}/${size}`)
  if (request.method === 'HEAD' || size === 0) response.writeHead(range ? 206 : 200, ruled).end()
  else await sendBytes(response, found, range ? 206 : 200, ruled, part)
}

async function sendBytes(
  response: ServerResponse,
  found: Found,
  status: number,
  headers: string[],
  part: FileRange,
): Promise<void> {
  const length = part.end - part.start + 1
  if (length <= WHOLE_BYTES) {
    const bytes = found.read(part.start, length)
    if (bytes.length < length) throw new Error('the file shrank while it was read')
    response.writeHead(status, headers).end(bytes)
    return
  }
  const file = await found.open()
  try {
    response.writeHead(status, headers)
    const bytes = file.createReadStream({ ...part, autoClose: false, highWaterMark: WHOLE_BYTES })
    await pipeline(bytes, response, { end: false })
    // If the response just ended, the connection would take the next response's bytes for the missing ones.
    if (bytes.bytesRead < length) throw new Error('the file shrank while it was sent')
    response.end()
  } finally {
    await file.close()
  }
}

/**
 * Returns the caching rule. WordPress appends `ver=` to the address of every script and style, and changes it with the
 * file. So such an address may be cached for a year without revalidation (RFC 8246). Documents are cached for five
 * minutes, everything else (media) for a day.
 */
function cacheControl(name: string, target: string): string {
  if (/[?&](?:ver|v)=[^&]/.test(queryOf(target))) return 'public, max-age=31536000, immutable'
  return /\.(?:html?|xml|txt|json|webmanifest|ics)$/i.test(name) ? 'public, max-age=300' : 'public, max-age=86400'
}
