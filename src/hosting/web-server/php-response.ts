import type { ServerResponse } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PhpResponse } from '../php/runtime.ts'

/** PHP's answer cannot be sent as HTTP. */
export class BadPhpResponse extends Error {}

/**
 * Of this connection, not of the answer (RFC 9110 §7.6.1), or not for PHP to say: the connection to the edge is shared by all
 * sites of the host, so a site must not touch how messages are framed.
 */
const NOT_FOR_PHP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'status',
  'server',
  'date',
  'x-powered-by',
])

/**
 * Sends what PHP answered. @throws BadPhpResponse before anything was sent; what the body fails with, after.
 * @param purge number of the purge that the request has caused, for the edge
 */
export async function sendPhpResponse(
  response: ServerResponse,
  answer: PhpResponse,
  method: string,
  purge = 0,
): Promise<void> {
  const { status } = answer
  // Also when nobody reads it: PHP can crash after its head.
  answer.body.on('error', () => {})
  try {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new BadPhpResponse(`status ${status}`)
    const bodiless = method === 'HEAD' || status === 204 || status === 304
    const { headers, length } = filterHeaders(answer.headers, status)
    if (purge > 0) headers.push('X-Stead-Purge', String(purge))
    writeHead(response, status, headers)
    if (bodiless) {
      // Read to its end: PHP goes on only when somebody takes what it prints.
      answer.body.resume()
      response.end()
      return
    }
    await pipeline(answer.body, bounded(length), response)
  } catch (error) {
    answer.body.destroy()
    throw error
  }
}

function writeHead(response: ServerResponse, status: number, headers: string[]): void {
  try {
    response.writeHead(status, headers)
  } catch (cause) {
    // Line breaks or control characters in a header.
    throw new BadPhpResponse('header', { cause })
  }
}

function filterHeaders(raw: readonly string[], status: number): { headers: string[]; length: number | undefined } {
  const headers = ['X-Stead-Renderer', 'php']
  let length: number | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    // The one word that a site may say to the edge: that this page is not to be kept.
    if (lower === 'x-stead-cache') headers.push('X-Stead-Cache', 'private')
    if (NOT_FOR_PHP.has(lower) || lower.startsWith('x-stead-')) continue
    if (lower === 'content-length') {
      // A wrong one, or one of two: sent in chunks instead.
      const value = raw[i + 1] as string
      length = length === undefined && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      continue
    }
    headers.push(name, raw[i + 1] as string)
  }
  if (length === undefined || Number.isNaN(length) || status === 204 || status === 304)
    return { headers, length: undefined }
  headers.push('Content-Length', String(length))
  return { headers, length }
}

/**
 * A site has one PHP, which is busy until its output is taken: so much of it waits here for a visitor with a slow line, and
 * PHP is free for the next.
 */
const HELD_BYTES = 8 << 20

/**
 * Takes PHP's output as fast as it comes and, where a length was announced, lets exactly as many bytes through. What PHP
 * prints beyond that is dropped: the edge would read it as the answer to the next request on the connection, which is another
 * site's. Too few end the connection.
 */
function bounded(length = Number.POSITIVE_INFINITY): Transform {
  let left = length
  return new Transform({
    readableHighWaterMark: HELD_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.length > left ? chunk.subarray(0, left) : chunk
      left -= part.length
      done(null, part)
    },
    flush(done) {
      done(Number.isFinite(left) && left > 0 ? new BadPhpResponse('body shorter than its Content-Length') : null)
    },
  })
}
