import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { VisitRequest } from '../visit-request.ts'

/**
 * An HTTP/2 request in the form of HTTP/1.1, which edge and hosts speak. `:authority` becomes `Host`, the pieces of a
 * cookie are joined (RFC 9113 §8.2.3), and a body without a length is chunked. nghttp2 has already refused heads that
 * HTTP/2 forbids.
 */
export class Http2Request implements VisitRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly httpVersion = '2.0'
  readonly httpVersionMajor = 2
  readonly httpVersionMinor = 0
  readonly socket: TLSSocket
  /** Undefined if the client sends none. `Host` then names the destination. */
  readonly authority: string | undefined
  readonly scheme: string | undefined
  /** The complete body has arrived. */
  complete: boolean
  /** The received bytes of the body. */
  receivedBytes = 0
  readonly #stream: ServerHttp2Stream

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], socket: TLSSocket) {
    this.#stream = stream
    this.complete = stream.endAfterHeaders
    this.socket = socket
    this.headers = headers
    this.method = headers[':method'] as string
    this.authority = headers[':authority'] as string | undefined
    this.scheme = headers[':scheme'] as string | undefined
    // CONNECT has no path.
    this.url = (headers[':path'] as string | undefined) ?? ''
    this.rawHeaders = plainHeaders(raw, this.authority)
    if (!this.complete && headers['content-length'] === undefined) {
      this.rawHeaders.push('transfer-encoding', 'chunked')
      headers['transfer-encoding'] = 'chunked'
    }
    if (this.complete) return
    // Node reports the end of a body only to a reader that has read all of it, and reports a body that was cut off in
    // the same way.
    const { push } = stream
    stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk !== null) this.receivedBytes += chunk.length
      else if (!stream.aborted) this.complete = true
      return push.call(stream, chunk, encoding)
    }
  }

  get destroyed(): boolean {
    return this.#stream.destroyed
  }

  get readableLength(): number {
    return this.#stream.readableLength
  }

  on(event: 'readable', listener: () => void): void {
    this.#stream.on(event, listener)
  }

  off(event: 'readable', listener: () => void): void {
    this.#stream.off(event, listener)
  }

  resume(): void {
    this.#stream.resume()
  }

  /** Throws when the body is cut off. */
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Buffer> {
    return this.#stream.iterator(options)
  }
}

/** Returns the headers without pseudo-headers, in the order of HTTP/1. */
function plainHeaders(raw: readonly string[], authority: string | undefined): string[] {
  const headers: string[] = authority === undefined ? [] : ['host', authority]
  let cookie = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const value = raw[i + 1] as string
    if (name.charCodeAt(0) === COLON || (name === 'host' && authority !== undefined)) continue
    if (name === 'cookie') {
      if (cookie > 0) {
        headers[cookie] = `${headers[cookie]}; ${value}`
        continue
      }
      cookie = headers.length + 1
    }
    headers.push(name, value)
  }
  return headers
}

const COLON = 58
