import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import { declareMemory } from '../../platform/process-memory.ts'
import type { VisitResponse } from '../visit.ts'

/** Connection headers of HTTP/1 (RFC 9113 §8.2.2). A client resets a stream with any of them. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
])

/** Names as sent, by their spelling; `''` is not sent. Bounded, because a site can invent names. */
const sentNames = new Map<string, string>()
declareMemory(() => sentNames.clear())
const MOST_NAMES = 1_024

function sentName(name: string): string {
  const known = sentNames.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const sent = OF_THE_CONNECTION.has(lower) ? '' : lower
  if (sentNames.size < MOST_NAMES) sentNames.set(name, sent)
  return sent
}

/** Node's HTTP/2 supports statuses up to 599. Higher ones are errors to every client anyway (RFC 9110 §15). */
const sentStatus = (status: number): number => (status > 599 ? 500 : status)

/**
 * The answer on an HTTP/2 stream, with the parts of an HTTP/1 response that the edge uses. The head leaves with the
 * first piece of the body, as there, so that an answer without a body is one frame.
 */
export class Http2Response implements VisitResponse {
  statusCode = 200
  /** Ignored: a stream ends on its own, and the connection stays. */
  shouldKeepAlive = true
  headersSent = false
  writableEnded = false
  readonly #stream: ServerHttp2Stream
  #saidBytes = 0
  /** Not sent yet. */
  #head: string[] | undefined

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  get closed(): boolean {
    return this.destroyed
  }

  /** The bytes of the body that were sent. */
  get takenBytes(): number {
    return this.#saidBytes - this.#stream.writableLength
  }

  get writableLength(): number {
    return this.#stream.writableLength
  }

  /** Whether all of it was sent. For Node, a stream that was cut off has finished, too. */
  get writableFinished(): boolean {
    const { writableFinished, aborted, rstCode } = this.#stream
    return this.writableEnded && writableFinished && !aborted && rstCode === constants.NGHTTP2_NO_ERROR
  }

  writeHead(status: number, reason: string, headers: readonly string[]): this
  writeHead(status: number, headers: readonly string[]): this
  writeHead(status: number, second: string | readonly string[], third?: readonly string[]): this {
    const headers = third ?? (second as readonly string[])
    this.statusCode = status
    this.headersSent = true
    const head: string[] = [':status', String(sentStatus(status))]
    for (let i = 0; i < headers.length; i += 2) {
      const name = sentName(headers[i] as string)
      if (name !== '') head.push(name, headers[i + 1] as string)
    }
    this.#head = head
    return this
  }

  writeContinue(): void {
    if (!this.destroyed) this.#stream.additionalHeaders({ ':status': 100 })
  }

  /** @returns false when the visitor has to read first; `drain` follows */
  write(chunk: Buffer): boolean {
    // Node ends a broken stream as if it were complete, unless it waits for trailers.
    if (this.#sendHead({ waitForTrailers: true })) this.#stream.once('wantTrailers', () => this.#sayWhole())
    if (this.destroyed || this.#stream.writableEnded) return true
    this.#saidBytes += chunk.length
    return this.#stream.write(chunk)
  }

  end(body?: Buffer): void {
    const isEmpty = body === undefined || body.length === 0
    this.writableEnded = true
    this.#sendHead(isEmpty ? { endStream: true } : {})
    if (this.destroyed || this.#stream.writableEnded) return
    this.#saidBytes += body?.length ?? 0
    if (isEmpty) this.#stream.end()
    else this.#stream.end(body)
  }

  /** Sends an empty frame that ends the stream, because the answer has no trailers. */
  #sayWhole(): void {
    if (this.writableEnded && !this.destroyed) this.#stream.sendTrailers({})
  }

  /** @returns whether it was still unsent */
  #sendHead(options: ServerStreamResponseOptions): boolean {
    const head = this.#head
    this.#head = undefined
    if (!head || this.destroyed) return false
    this.#stream.respond(head, options)
    return true
  }

  /** Breaks off, so that the client notices that the answer is incomplete. */
  destroy(): void {
    if (!this.destroyed) this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  once(event: 'close' | 'drain', listener: () => void): void {
    this.#stream.once(event, listener)
  }
}
