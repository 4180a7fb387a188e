import { FetchTimedOut, fetchErrorFrom } from './fetch-errors.ts'
import { endOf, loadUndici, parseUrl, place, publicAgent } from './fetch-public.ts'

export interface PostOptions {
  /** As in `FetchOptions`. */
  readonly allowPrivate: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds for the whole of it, the look-up of the name included. */
  readonly timeoutMs: number
  /** Of the answer's body: more is not read. */
  readonly startBytes: number
  /** Ends it early; what it was aborted with is thrown. */
  readonly signal: AbortSignal
}

export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly start: Buffer
}

/**
 * Posts to an address that a user gave, http or https, and returns whatever is answered. Connects only to public addresses, as `fetchPublic`
 * does, and follows no redirect.
 * @throws FetchRefused, FetchFailed, FetchTimedOut; the signal's reason
 */
export async function postPublic(address: string, options: PostOptions): Promise<PostAnswer> {
  const { allowPrivate, timeoutMs } = options
  const { request } = await loadUndici()
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([options.signal, deadline])
  const url = parseUrl(address, { allowPrivate, allowHttp: true, maxBytes: 0 })
  const dispatcher = await publicAgent({ allowPrivate, maxBytes: 0, idleTimeoutMs: timeoutMs })
  const headers = { 'user-agent': 'Stead', ...options.headers, 'accept-encoding': 'identity' }
  try {
    const asked = request(url, { dispatcher, signal, method: 'POST', headers, body: options.body })
    const { statusCode, headers: answered, body } = await Promise.race([asked, endOf(signal)])
    body.on('error', () => {})
    // the status decides: a body that does not come, or never ends, changes nothing
    const late = setTimeout(() => body.destroy(), START_MS)
    try {
      const start = await startOf(body, options.startBytes)
      options.signal.throwIfAborted()
      return { status: statusCode, headers: answered, start }
    } finally {
      clearTimeout(late)
      body.destroy()
    }
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason
    if (deadline.aborted) throw new FetchTimedOut(`${place(url)}: no response in ${timeoutMs / 1000} s`)
    throw fetchErrorFrom(error, place(url))
  } finally {
    dispatcher.destroy().catch(() => {})
  }
}

/** How long the beginning of an answer's body is waited for. */
const START_MS = 2_000

async function startOf(body: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= most) break
    }
  } catch {
    // broken off: what has come is its start
  }
  return Buffer.concat(chunks).subarray(0, most)
}
