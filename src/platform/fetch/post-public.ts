import { FetchTimedOut, fetchErrorFrom } from './fetch-errors.ts'
import { endOf, loadUndici, parseUrl, place, publicAgent } from './fetch-public.ts'

export interface PostOptions {
  /** See `FetchOptions`. */
  readonly allowPrivate: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds for the whole request, including the resolution of the name. */
  readonly timeoutMs: number
  /** The most bytes that are read of the answer's body. */
  readonly startBytes: number
  /** Ends the request early. Its reason is thrown. */
  readonly signal: AbortSignal
}

export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly start: Buffer
}

/**
 * Posts to an http or https URL that a user gave, and returns any answer. Connects only to public addresses, like
 * `fetchPublic`, and follows no redirect.
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
    // Only the status matters, so a body that is late or never ends changes nothing.
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

/** The time limit for the beginning of an answer's body. */
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
    // The body broke off: the received bytes are its beginning.
  }
  return Buffer.concat(chunks).subarray(0, most)
}
