import { connect, type Socket } from 'node:net'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import { type Exchange, sendBody } from './exchange.ts'
import { HostError, type HostErrorCode } from './host-error.ts'

/** Limits towards the hosts. */
export interface UpstreamLimits {
  /** Connections to one host. */
  readonly connections: number
  readonly connectTimeoutMs: number
  /** From the end of the request to the head of the response. */
  readonly responseTimeoutMs: number
  /** Between two pieces of a response's body. */
  readonly bodyTimeoutMs: number
}

/** Where a connection belongs. */
export interface ConnectionOwner {
  readonly limits: UpstreamLimits
  /** It is free for another request. */
  isFree(connection: Connection): void
  isGone(connection: Connection): void
}

/** Without a word of the host about it. */
const IDLE_MS = 4_000
const MOST_IDLE_MS = 60_000
/** A host closes an idle connection when it says: the edge leaves it so much earlier. */
const EARLIER_MS = 2_000

/**
 * All connections read into this one: what comes is looked at before anything else is read, and bodies are copied into memory of their own
 * size. A buffer for each read, which Node makes otherwise, has 64 kB.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

/** A connection to a host, kept for one request after the other. */
export class Connection implements AnswerSink {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  readonly #parser = new AnswerParser(this)
  #exchange: Exchange | undefined
  /** Its last sign of life, monotonic. */
  #movedAtMs = performance.now()
  #isConnected = false
  #idleMs = IDLE_MS
  #error: Error | undefined

  constructor({ hostname, port }: URL, owner: ConnectionOwner) {
    this.#owner = owner
    this.#socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 80),
      noDelay: true,
      onread: { buffer: readBuffer, callback: (bytes) => this.#read(bytes) },
    })
    this.#socket.on('connect', () => {
      this.#isConnected = true
      this.#moves()
    })
    this.#socket.on('error', (error) => {
      this.#error ??= error
    })
    this.#socket.on('close', () => this.#closed())
  }

  /** Neither side has ended it: its end is told a little later. */
  get isUsable(): boolean {
    return this.#socket.writable
  }

  /** It is to be free. */
  send(exchange: Exchange): void {
    this.#exchange = exchange
    exchange.connection = this
    this.#parser.begin(exchange.request.method)
    this.#moves()
    this.#socket.write(exchange.head, 'latin1')
    if (exchange.request.body) void this.#sendBody(exchange)
    else exchange.isSent = true
  }

  async #sendBody(exchange: Exchange): Promise<void> {
    try {
      exchange.isSent = await sendBody(this.#socket, exchange, () => this.#moves())
      this.#moves()
    } catch (error) {
      if (!exchange.isOver) this.destroy(error as Error)
    }
  }

  #moves(): void {
    this.#movedAtMs = performance.now()
  }

  #read(length: number): boolean {
    const exchange = this.#exchange
    this.#moves()
    try {
      exchange?.firstBytes()
      this.#parser.take(readBuffer.subarray(0, length))
    } catch (error) {
      this.destroy(error as Error)
    }
    return this.#exchange?.isPaused !== true
  }

  head(status: number, reason: string, raw: string[]): void {
    this.#idleMs = idleMsOf(raw)
    this.#exchange?.answer(status, reason, raw)
  }

  data(piece: Buffer, isLast: boolean): void {
    this.#exchange?.data(piece, isLast)
  }

  end(isKept: boolean): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    const isFree = isKept && exchange?.isSent === true && !this.#socket.destroyed
    if (!isFree) this.#socket.destroy()
    else if (exchange.isPaused) this.#socket.resume()
    exchange?.end()
    if (isFree) this.#owner.isFree(this)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#moves()
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }

  destroy(error: Error): void {
    this.#error ??= error
    this.#socket.destroy()
  }

  #closed(): void {
    if (!this.#error) this.#parser.close()
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#owner.isGone(this)
    exchange?.fail(this.#error ?? new HostError('HOST_CLOSED', 'the host has closed the connection'))
  }

  /** Ends it when it has waited for too long. */
  look(nowMs: number): void {
    const code = this.#lateBy(nowMs - this.#movedAtMs)
    if (code === 'idle') this.close()
    else if (code) this.destroy(new HostError(code, 'the host has taken too long'))
  }

  #lateBy(waitedMs: number): HostErrorCode | 'idle' | undefined {
    const { connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs } = this.#owner.limits
    const exchange = this.#exchange
    if (!this.#isConnected) return waitedMs > connectTimeoutMs ? 'HOST_CONNECT_TIMEOUT' : undefined
    if (!exchange) return waitedMs > this.#idleMs ? 'idle' : undefined
    if (exchange.hasHead) return !exchange.isPaused && waitedMs > bodyTimeoutMs ? 'HOST_BODY_TIMEOUT' : undefined
    // as long as the request is on its way the visitor is waited for, unless the host takes no more of it
    const isHosts = exchange.isSent || this.#socket.writableNeedDrain
    return isHosts && waitedMs > responseTimeoutMs ? 'HOST_HEAD_TIMEOUT' : undefined
  }
}

/** By `Keep-Alive: timeout=5`. */
function idleMsOf(raw: readonly string[]): number {
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length !== 10 || name.toLowerCase() !== 'keep-alive') continue
    const seconds = /timeout=(\d{1,6})/i.exec(raw[i + 1] as string)?.[1]
    if (seconds) return Math.min(Number(seconds) * 1_000 - EARLIER_MS, MOST_IDLE_MS)
  }
  return IDLE_MS
}
