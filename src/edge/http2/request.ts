import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { VisitRequest } from '../visit.ts'

/**
 * A request of HTTP/2 in the words of HTTP/1.1, as the edge and the hosts speak them: `:authority` is `Host`, the pieces of a cookie are one
 * (RFC 9113 §8.2.3), and a body that does not say its length is chunked. What HTTP/2 forbids in a head, nghttp2 has refused.
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
  /** Undefined where the client names none; `Host` then says where it wants to go. */
  readonly authority: string | undefined
  readonly scheme: string | undefined
  /** All of the body has come. */
  complete: boolean
  /** Of the body, what has come. */
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
    // CONNECT has no path
    this.url = (headers[':path'] as string | undefined) ?? ''
    this.rawHeaders = plainHeaders(raw, this.authority)
    if (!this.complete && headers['content-length'] === undefined) {
      this.rawHeaders.push('transfer-encoding', 'chunked')
      headers['transfer-encoding'] = 'chunked'
    }
    if (this.complete) return
    // Node tells of the end of a body only who has read all of it, and ends one that is cut off in the same way
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

  /** Fails when the body is cut off. */
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Buffer> {
    return this.#stream.iterator(options)
  }
}

/** Without what begins with a colon; in the order that HTTP/1 has. */
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
