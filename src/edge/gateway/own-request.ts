import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Client } from '../../platform/http/client/client-address.ts'
import type { VisitResponse } from '../visit.ts'
import type { VisitRequest } from '../visit-request.ts'

const ADDRESS = '127.0.0.1'
/** Stands for a connection. Hosts recognize their sites by ports that are never 0. */
const noSocket = { remoteAddress: ADDRESS, remotePort: 0 } as Socket

/** A question of the monitoring, for the head of a page. */
export interface OwnQuestion {
  readonly scheme: Client['scheme']
  readonly path: string
  /** Raw and flat, with names in lower case, each once. */
  readonly headers: readonly string[]
}

/** A question of Stead in the form of an HTTP/1.1 request. It passes no connection, which costs more than the rest. */
export class OwnRequest implements VisitRequest {
  readonly method = 'HEAD'
  readonly url: string
  readonly headers: IncomingHttpHeaders = {}
  readonly rawHeaders: string[]
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly socket = noSocket
  readonly complete = true
  readonly destroyed = false
  readonly readableLength = 0
  /** What the first bytes of a connection would prove. */
  readonly client: Client

  constructor({ scheme, path, headers }: OwnQuestion) {
    this.url = path
    this.rawHeaders = headers as string[]
    for (let i = 0; i < headers.length; i += 2) this.headers[headers[i] as string] = headers[i + 1] as string
    this.client = { address: ADDRESS, forwardedFor: ADDRESS, scheme, isSchemeKnown: true, looksAt: 'every' }
  }

  on(): void {}

  off(): void {}

  resume(): void {}

  async *iterator(): AsyncGenerator<Buffer> {}
}

/** The head of an answer. Its body is dropped. */
export interface OwnAnswer {
  readonly status: number
  readonly location: string | undefined
}

/** Gets the answer to a question of Stead. */
export class OwnResponse implements VisitResponse {
  statusCode = 200
  shouldKeepAlive = true
  headersSent = false
  destroyed = false
  writableEnded = false
  readonly writableLength = 0
  readonly #done: (answer: OwnAnswer | undefined) => void
  readonly #onClose: (() => void)[] = []
  #location: string | undefined

  /** @param done called once; with undefined if it breaks off */
  constructor(done: (answer: OwnAnswer | undefined) => void) {
    this.#done = done
  }

  get closed(): boolean {
    return this.destroyed || this.writableEnded
  }

  get writableFinished(): boolean {
    return this.writableEnded
  }

  writeHead(status: number, reason: string, headers: readonly string[]): this
  writeHead(status: number, headers: readonly string[]): this
  writeHead(status: number, second: string | readonly string[], third?: readonly string[]): this {
    const headers = third ?? (second as readonly string[])
    this.statusCode = status
    this.headersSent = true
    for (let i = 0; i < headers.length; i += 2)
      if (headers[i]?.length === 8 && headers[i]?.toLowerCase() === 'location') this.#location ??= headers[i + 1]
    return this
  }

  writeContinue(): void {}

  write(): boolean {
    return true
  }

  end(): void {
    if (this.closed) return
    this.writableEnded = true
    this.#close({ status: this.statusCode, location: this.#location })
  }

  destroy(): void {
    if (this.closed) return
    this.destroyed = true
    this.#close(undefined)
  }

  once(event: 'close' | 'drain', listener: () => void): void {
    if (event === 'close') this.#onClose.push(listener)
  }

  #close(answer: OwnAnswer | undefined): void {
    for (const listener of this.#onClose.splice(0)) listener()
    this.#done(answer)
  }
}
