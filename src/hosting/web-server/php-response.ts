import type { ServerResponse } from 'node:http'
import type { PhpResponse } from '../php/runtime.ts'
import type { HeldAnswers } from './held-answers.ts'

/** PHP's response cannot be sent as HTTP. */
export class BadPhpResponse extends Error {}

/**
 * Headers of the connection and not of the response (RFC 9110 §7.6.1), or headers that PHP must not set. All sites of
 * the host share the connection to the edge, so a site must not change how messages are framed.
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

/** Less than the edge accepts. nginx accepts 8 kB. */
const MOST_HEAD_BYTES = 49_152

/** Paths separated by spaces: what a page shows (see `shown.php`). */
const SHOWS = /^(?:\/[\x21-\x7e]*)(?: \/[\x21-\x7e]*){0,9}$/
const MOST_SHOWS = 4_096

/** The parts of a request that determine how its response is sent. */
export interface ResponseRequest {
  readonly siteId: number
  readonly method: string
  /** The number of the purge that the request has caused, for the edge; 0 for none. */
  readonly purge: number
}

/**
 * Sends PHP's response. @throws BadPhpResponse before anything was sent; errors of the body and of `HeldAnswers.send`
 * afterwards
 */
export async function sendPhpResponse(
  response: ServerResponse,
  answer: PhpResponse,
  { siteId, method, purge }: ResponseRequest,
  answers: HeldAnswers,
): Promise<void> {
  const { status } = answer
  // Even if nothing reads the body, because PHP can crash after its head.
  answer.body.on('error', () => {})
  try {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new BadPhpResponse(`status ${status}`)
    const bodiless = method === 'HEAD' || status === 204 || status === 304
    const { headers, length } = filterHeaders(answer.headers, status)
    if (purge > 0) headers.push('X-Stead-Purge', String(purge))
    writeHead(response, status, headers)
    if (bodiless) {
      // Read to its end, because PHP waits until its output is read.
      answer.body.resume()
      response.end()
      return
    }
    response.once('close', () => answer.body.destroy())
    await answers.send(siteId, bounded(answer.body, length), response)
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
  let bytes = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    bytes += name.length + (raw[i + 1] as string).length + 4
    if (bytes > MOST_HEAD_BYTES) throw new BadPhpResponse(`headers of more than ${MOST_HEAD_BYTES} bytes`)
    // The headers that a site may send to the edge: not to store this page, or only briefly, and what it shows. If what
    // it shows is invalid, it would be unknown when the page is outdated.
    const value = raw[i + 1] as string
    const isShows = lower === 'x-stead-shows'
    if (isShows && value.length <= MOST_SHOWS && SHOWS.test(value)) headers.push('X-Stead-Shows', value)
    else if (lower === 'x-stead-cache' && value === 'brief') headers.push('X-Stead-Cache', value)
    else if (isShows || lower === 'x-stead-cache') headers.push('X-Stead-Cache', 'private')
    if (NOT_FOR_PHP.has(lower) || lower.startsWith('x-stead-')) continue
    if (lower === 'content-length') {
      // If it is wrong, or given twice, the body is sent in chunks instead.
      length = length === undefined && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      continue
    }
    headers.push(name, value)
  }
  if (length === undefined || Number.isNaN(length) || status === 204 || status === 304)
    return { headers, length: undefined }
  headers.push('Content-Length', String(length))
  return { headers, length }
}

/**
 * If a length was announced, passes exactly that many bytes. Further output of PHP is dropped: the edge would read it
 * as the response to the next request on the connection, which belongs to another site. Too few bytes end the
 * connection.
 */
async function* bounded(body: AsyncIterable<Buffer>, length = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  let left = length
  for await (const chunk of body) {
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= part.length
    if (part.length > 0) yield part
  }
  if (Number.isFinite(left) && left > 0) throw new BadPhpResponse('body shorter than its Content-Length')
}
