import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { lookupPublic, type ResolvedAddress } from './addresses.ts'
import { FetchFailed, FetchRefused, FetchTimedOut, FetchTooLarge, fetchErrorFrom } from './fetch-errors.ts'

export { FetchError, FetchFailed, FetchRefused, FetchTimedOut, FetchTooLarge } from './fetch-errors.ts'

/** What one fetch may do and take. */
export interface FetchOptions {
  /** Lets the request reach loopback and private networks: the explicit test setting, nothing else. */
  readonly allowPrivate: boolean
  /** Tells the addresses that lead to this machine, which are refused; default: those of its interfaces. */
  readonly isOwn?: (address: string) => boolean
  /** Accepts http:// besides https://; without it, only where `allowPrivate` is set. */
  readonly allowHttp?: boolean
  /** Bytes of the answer's body, counted as sent and again once decompressed. */
  readonly maxBytes: number
  /**
   * Media types that the answer may have: lower case, without parameters (RFC 9110 §8.3.1); default: any. An answer that names
   * none passes, since many servers know none for a file: what it holds is for the reader to check.
   */
  readonly types?: readonly string[]
  /** Milliseconds for the whole of it, redirects included. Default 30,000. */
  readonly timeoutMs?: number
  /** Milliseconds without a byte, and for connecting. Default 10,000. */
  readonly idleTimeoutMs?: number
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Ends the fetch early; what it was aborted with is thrown. */
  readonly signal?: AbortSignal
  /** Called as bytes arrive. `totalBytes` is null when the server did not say. */
  readonly onProgress?: (progress: { receivedBytes: number; totalBytes: number | null }) => void
  /** Stands in for the system's resolver, in tests. */
  readonly resolve?: (name: string) => Promise<ResolvedAddress[]>
}

/** A successful answer, while it is being read. */
export interface FetchedResponse {
  /** Where the answer came from after redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The decompressed body; to be read once. */
  readonly body: AsyncIterable<Buffer>
}

const maxRedirects = 3
// Anything else may be a secret meant for the first server only.
const keptOnRedirect = /^(accept|accept-language|user-agent|content-type)$/i

/**
 * Fetches an address that a user gave, and hands the answer to `consume`; returns what `consume` returns. Connects only
 * to public addresses, checked when connecting and used as checked, so that a name which changes its answer gains nothing.
 * At most 3 redirects, each checked alike. Sends no cookies and follows no proxy settings.
 * @throws FetchRefused, FetchFailed (`status` set for an answer other than 2xx, and for one of another type), FetchTooLarge, FetchTimedOut; the
 * signal's reason; and whatever `consume` throws.
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

/** Like `fetchPublic`, into memory. */
export async function fetchBuffer(address: string | URL, options: FetchOptions): Promise<Buffer> {
  return fetchPublic(address, options, async ({ body }) => {
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
}

/** Like `fetchPublic`, for JSON. The caller validates the value. */
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
 * Like `fetchPublic`, into a new file (it must not exist; removed again when anything fails). Returns the size and the
 * SHA-256 (hex) of what was written.
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

/** Takes 14 MB in each process: most processes of Stead never fetch anything. */
export const loadUndici = () => import('undici')

/** Connects to public addresses only. */
export async function publicAgent(options: FetchOptions): Promise<Agent> {
  const { Agent, buildConnector } = await loadUndici()
  const idleTimeoutMs = options.idleTimeoutMs ?? 10_000
  return new Agent({
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: 32 * 1024,
    // Not `connect: { lookup }`: net.connect never asks it about literal addresses.
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
    // undici looks at the signal only once it is connected: a name server that is silent would hold a fetch for ever.
    const answered = Promise.race([request(url, { dispatcher, signal, method, headers, body }), endOf(signal)])
    const response = await answered.catch((error: unknown) => {
      throw rephrase(error, url)
    })
    // Without a listener, ending the fetch before the body was read would be an uncaught error.
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
  // What the server chose goes into a message only where it is a media type.
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

/** The URL as it may appear in messages: signed download links carry their secret in the query. */
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

// Servers compress although they were asked not to; anything more exotic is theirs to explain.
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
