import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { lookupPublic, type ResolvedAddress } from './addresses.ts'
import { FetchFailed, FetchRefused, FetchTimedOut, FetchTooLarge, fetchErrorFrom } from './fetch-errors.ts'

export { FetchError, FetchFailed, FetchRefused, FetchTimedOut, FetchTooLarge } from './fetch-errors.ts'

/** The limits and permissions of one fetch. */
export interface FetchOptions {
  /** Allows requests to loopback and private networks. Only for the explicit test setting. */
  readonly allowPrivate: boolean
  /** Returns whether an address leads to this machine, and is refused. By default, those of its interfaces. */
  readonly isOwn?: (address: string) => boolean
  /** Whether http:// is accepted in addition to https://. By default, only with `allowPrivate`. */
  readonly allowHttp?: boolean
  /** The most bytes of the answer's body, both as sent and decompressed. */
  readonly maxBytes: number
  /**
   * The allowed media types of the answer: lower case, without parameters (RFC 9110 §8.3.1). Any by default. An answer
   * without a type is accepted, because many servers do not know the type of a file. The reader must check the content.
   */
  readonly types?: readonly string[]
  /** Milliseconds for the whole fetch, including redirects. 30,000 by default. */
  readonly timeoutMs?: number
  /** Milliseconds without a byte, and for connecting. 10,000 by default. */
  readonly idleTimeoutMs?: number
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Ends the fetch early. Its reason is thrown. */
  readonly signal?: AbortSignal
  /** Called as bytes arrive. `totalBytes` is null if the server did not announce it. */
  readonly onProgress?: (progress: { receivedBytes: number; totalBytes: number | null }) => void
  /** Replaces the system's resolver, in tests. */
  readonly resolve?: (name: string) => Promise<ResolvedAddress[]>
}

/** A successful answer, while it is being read. */
export interface FetchedResponse {
  /** The source of the answer after redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The decompressed body, which can be read once. */
  readonly body: AsyncIterable<Buffer>
}

const maxRedirects = 3
// Any other header may be a secret for the first server only.
const keptOnRedirect = /^(accept|accept-language|user-agent|content-type)$/i

/**
 * Fetches a URL that a user gave, passes the answer to `consume`, and returns the result of `consume`. Connects only to
 * public addresses. It checks them when it connects, and uses the checked ones, so a name that changes its answer has
 * no effect. It follows at most 3 redirects, each with the same checks. It sends no cookies and follows no proxy
 * settings.
 * @throws FetchRefused, FetchFailed (`status` set for an answer other than 2xx, and for one of another type),
 * FetchTooLarge, FetchTimedOut; the signal's reason; and the errors of `consume`
 */
export async function fetchPublic<Result>(
  address: string | URL,
  options: FetchOptions,
  consume: (response: FetchedResponse) => Promise<Result>,
): Promise<Result> {
  const agent = await publicAgent(options)
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs ?? 30_000)
  const signal = options.signal ? AbortSignal.any([options.signal, deadline.signal]) : deadline.signal
  const rephrase = (error: unknown, url: URL): unknown => {
    if (options.signal?.aborted) return options.signal.reason
    if (deadline.signal.aborted) return new FetchTimedOut(`${place(url)}: not finished in the time allowed`)
    return fetchErrorFrom(error, place(url))
  }
  try {
    const { response, url } = await follow(parseUrl(address, options), options, agent, signal, rephrase)
    checkType(response, url, options)
    return await consume({
      url,
      status: response.statusCode,
      headers: response.headers,
      body: readBody(response, url, options, (error) => rephrase(error, url)),
    })
  } finally {
    clearTimeout(timer)
    agent.destroy().catch(() => {})
  }
}

/** Does the same as `fetchPublic`, in memory. */
export async function fetchBuffer(address: string | URL, options: FetchOptions): Promise<Buffer> {
  return fetchPublic(address, options, async ({ body }) => {
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
}

/** Does the same as `fetchPublic`, for JSON. The caller validates the value. */
export async function fetchJson(address: string | URL, options: FetchOptions): Promise<unknown> {
  const accepting = { ...options, headers: { accept: 'application/json', ...options.headers } }
  const text = (await fetchBuffer(address, accepting)).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FetchFailed(`${place(new URL(address))}: the response is not JSON`, { cause })
  }
}

/**
 * Does the same as `fetchPublic`, to a new file, which must not exist, and is removed after a failure. Returns the size
 * and the SHA-256 (hex) of the written bytes.
 */
export async function fetchToFile(
  address: string | URL,
  path: string,
  options: FetchOptions,
): Promise<{ url: URL; sizeBytes: number; sha256: string }> {
  return fetchPublic(address, options, async ({ url, body }) => {
    const file = await open(path, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      let sizeBytes = 0
      for await (const chunk of body) {
        await file.writeFile(chunk)
        hash.update(chunk)
        sizeBytes += chunk.length
      }
      return { url, sizeBytes, sha256: hash.digest('hex') }
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })
}

/** Loads undici on demand. It takes 14 MB in each process, and most processes of Stead never fetch anything. */
export const loadUndici = () => import('undici')

/** Returns an agent that connects only to public addresses. */
export async function publicAgent(options: FetchOptions): Promise<Agent> {
  const { Agent, buildConnector } = await loadUndici()
  const idleTimeoutMs = options.idleTimeoutMs ?? 10_000
  return new Agent({
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: 32 * 1024,
    // Not `connect: { lookup }`, because net.connect does not call it for literal addresses.
    connect: (target, callback) => {
      lookupPublic(target.hostname, options).then(
        (addresses) =>
          buildConnector({
            timeout: idleTimeoutMs,
            lookup: (_name, { all }, answer) =>
              all ? answer(null, [...addresses]) : answer(null, addresses[0]!.address, addresses[0]!.family),
          })(target, callback),
        (error: Error) => callback(error, null),
      )
    },
  })
}

async function follow(
  start: URL,
  options: FetchOptions,
  dispatcher: Dispatcher,
  signal: AbortSignal,
  rephrase: (error: unknown, url: URL) => unknown,
): Promise<{ response: Dispatcher.ResponseData; url: URL }> {
  const { request } = await loadUndici()
  let url = start
  let method = options.method ?? 'GET'
  let body: string | Buffer | null = options.body ?? null
  let headers: Record<string, string> = { 'user-agent': 'Stead', ...options.headers, 'accept-encoding': 'identity' }
  for (let redirects = 0; ; redirects += 1) {
    // undici checks the signal only after it has connected, so a silent name server would hold a fetch forever.
    const answered = Promise.race([request(url, { dispatcher, signal, method, headers, body }), endOf(signal)])
    const response = await answered.catch((error: unknown) => {
      throw rephrase(error, url)
    })
    // Without a listener, to end the fetch before the body is read would be an uncaught error.
    response.body.on('error', () => {})
    const status = response.statusCode
    if (status >= 200 && status < 300) return { response, url }
    response.body.destroy()
    const { location } = response.headers
    if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string')
      throw new FetchFailed(`${place(url)}: the server responded with status ${status}`, { status })
    if (redirects === maxRedirects)
      throw new FetchRefused(`${place(start)}: redirected more than ${maxRedirects} times`)
    const target = URL.parse(location, url)
    if (!target) throw new FetchFailed(`${place(url)}: redirects to an invalid URL`, { status })
    url = parseUrl(target, options)
    headers = Object.fromEntries(Object.entries(headers).filter(([name]) => keptOnRedirect.test(name)))
    headers['accept-encoding'] = 'identity'
    if (status < 307 && method === 'POST') {
      method = 'GET'
      body = null
      delete headers['content-type']
    }
  }
}

export function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function checkType({ headers, statusCode }: Dispatcher.ResponseData, url: URL, { types }: FetchOptions): void {
  const sent = headers['content-type']
  if (!types || sent === undefined) return
  const type = String(sent).replace(/;.*$/s, '').trim().toLowerCase()
  if (types.includes(type)) return
  // The server's text goes into a message only if it is a media type.
  const named = /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,100}$/.test(type) ? type : 'something else'
  throw new FetchFailed(`${place(url)}: the server sent ${named}, not ${types.join(' or ')}`, { status: statusCode })
}

export function parseUrl(address: string | URL, options: FetchOptions): URL {
  const url = URL.parse(String(address))
  if (!url) throw new FetchRefused('The address is not a valid URL')
  const http = url.protocol === 'http:' && (options.allowHttp ?? options.allowPrivate)
  if (url.protocol !== 'https:' && !http) throw new FetchRefused(`${place(url)}: only https URLs can be fetched`)
  if (url.username || url.password)
    throw new FetchRefused(`${place(url)}: a URL with a user name or password cannot be fetched`)
  return url
}

/** Returns the URL in the form for messages. Signed download links have their secret in the query. */
export const place = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`.slice(0, 300)

async function* readBody(
  response: Dispatcher.ResponseData,
  url: URL,
  options: FetchOptions,
  rephrase: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  const tooLarge = () =>
    new FetchTooLarge(`${place(url)}: larger than the ${Math.floor(options.maxBytes / 1024)} kB allowed`)
  try {
    const encoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase()
    const length = Number(response.headers['content-length'] ?? Number.NaN)
    if (length > options.maxBytes) throw tooLarge()
    const totalBytes = encoding === 'identity' && Number.isSafeInteger(length) ? length : null
    const sent = limit(response.body, options.maxBytes, tooLarge, (receivedBytes) =>
      options.onProgress?.({ receivedBytes, totalBytes }),
    )
    const decoder = decoderFor(encoding, url)
    if (!decoder) return yield* sent
    // The error of either side arrives through the decoder, which pipeline() destroys with it.
    yield* limit(
      pipeline(Readable.from(sent), decoder, () => {}),
      options.maxBytes,
      tooLarge,
    )
  } catch (error) {
    throw rephrase(error)
  } finally {
    response.body.destroy()
  }
}

// Some servers compress although the request forbids it. Other encodings are an error.
function decoderFor(encoding: string, url: URL) {
  if (encoding === 'identity') return undefined
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip()
  if (encoding === 'br') return createBrotliDecompress()
  throw new FetchFailed(`${place(url)}: the response uses an unsupported compression`)
}

async function* limit(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
  onBytes?: (total: number) => void,
): AsyncGenerator<Buffer> {
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > maxBytes) throw tooLarge()
    onBytes?.(total)
    yield chunk
  }
}
