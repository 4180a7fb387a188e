import { connect, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { connectToRole } from '../../platform/mtls/connect-to-role.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import { HostError, type HostErrorCode } from './host-error.ts'
import { type HostExchange, sendBody } from './host-exchange.ts'

/** Limits for connections to the hosts. */
export interface UpstreamLimits {
  /** Connections to one host. */
  readonly connections: number
  readonly connectTimeoutMs: number
  /** From the end of the request to the head of the response. */
  readonly responseTimeoutMs: number
  /** Between two pieces of a response's body. */
  readonly bodyTimeoutMs: number
  /** Sent first on each connection. Default: nothing. */
  readonly greeting?: Buffer
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  readonly limits: UpstreamLimits
  /** Required for hosts whose address begins with `https`. */
  readonly trust?: RoleTrust | undefined
  /** Called when it is free for another request. */
  isFree(connection: Connection): void
  isGone(connection: Connection): void
}

/** Used when the host does not send a timeout. */
const IDLE_MS = 4_000
const MOST_IDLE_MS = 60_000
/** The edge closes an idle connection this much earlier than the host would. */
const EARLIER_MS = 2_000

/**
 * The buffer of all connections: bytes are processed before the next read, and bodies are copied to memory of their own
 * size. Node would otherwise allocate a buffer of 64 kB for each read.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

/** A connection to a host, kept for one request after the other. */
export class Connection implements AnswerSink {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  readonly #parser = new AnswerParser(this)
  #exchange: HostExchange | undefined
  /** Its last activity, monotonic. */
  #movedAtMs = performance.now()
  #isConnected = false
  #idleMs = IDLE_MS
  #error: Error | undefined

  constructor(url: URL, owner: ConnectionOwner) {
    this.#owner = owner
    const isSecure = url.protocol === 'https:' && owner.trust !== undefined
    this.#socket = open(url, owner.trust, (bytes) => this.#read(bytes))
    this.#socket.on(isSecure ? 'secureConnect' : 'connect', () => {
      this.#isConnected = true
      this.#moves()
      if (owner.limits.greeting) this.#socket.write(owner.limits.greeting)
      if (this.#exchange) this.#write(this.#exchange)
    })
    this.#socket.on('error', (error) => {
      this.#error ??= error
    })
    this.#socket.on('close', () => this.#closed())
  }

  /** Whether neither side has ended it. The event of its end comes a little later. */
  get isUsable(): boolean {
    return this.#socket.writable
  }

  /** Closes it if the host is no longer trusted. */
  checkPeer(): void {
    const { trust } = this.#owner
    if (!trust || !this.#isConnected || !('getPeerX509Certificate' in this.#socket)) return
    const peer = (this.#socket as TLSSocket).getPeerX509Certificate()
    // It had one when it connected. It has ended, and will say so.
    if (!peer) return
    const fault = trust.faultOf(peer, { roles: ['host'] })
    if (fault !== undefined) this.destroy(new HostError('HOST_UNTRUSTED', `the host is not trusted: ${fault}`))
  }

  /** Sends a request. The connection must be free. */
  send(exchange: HostExchange): void {
    this.#exchange = exchange
    exchange.connection = this
    this.#parser.begin(exchange.request.method)
    this.#moves()
    // Until then, it is not known who is at the other end.
    if (this.#isConnected) this.#write(exchange)
  }

  #write(exchange: HostExchange): void {
    this.#socket.write(exchange.head, 'latin1')
    if (exchange.request.body) void this.#sendBody(exchange)
    else exchange.isSent = true
  }

  async #sendBody(exchange: HostExchange): Promise<void> {
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

  /** Returns for how long nothing has come from the host that should send something. */
  waitsMs(nowMs: number): number {
    const exchange = this.#exchange
    const isHosts =
      !this.#isConnected ||
      (exchange && !exchange.isPaused && (exchange.hasHead || exchange.isSent || this.#socket.writableNeedDrain))
    return isHosts ? nowMs - this.#movedAtMs : 0
  }

  #lateBy(waitedMs: number): HostErrorCode | 'idle' | undefined {
    const { connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs } = this.#owner.limits
    const exchange = this.#exchange
    if (!this.#isConnected) return waitedMs > connectTimeoutMs ? 'HOST_CONNECT_TIMEOUT' : undefined
    if (!exchange) return waitedMs > this.#idleMs ? 'idle' : undefined
    if (exchange.hasHead) return !exchange.isPaused && waitedMs > bodyTimeoutMs ? 'HOST_BODY_TIMEOUT' : undefined
    // During the upload the connection waits for the visitor, unless the host does not read.
    const isHosts = exchange.isSent || this.#socket.writableNeedDrain
    return isHosts && waitedMs > responseTimeoutMs ? 'HOST_HEAD_TIMEOUT' : undefined
  }
}

function open(url: URL, trust: RoleTrust | undefined, read: (bytes: number) => boolean): Socket {
  const onread = { buffer: readBuffer, callback: read }
  if (url.protocol === 'https:' && trust) return connectToRole(url, trust, 'host', onread)
  return connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80), noDelay: true, onread })
}

/** Returns the idle time by `Keep-Alive: timeout=5`. */
function idleMsOf(raw: readonly string[]): number {
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length !== 10 || name.toLowerCase() !== 'keep-alive') continue
    const seconds = /timeout=(\d{1,6})/i.exec(raw[i + 1] as string)?.[1]
    if (seconds) return Math.min(Number(seconds) * 1_000 - EARLIER_MS, MOST_IDLE_MS)
  }
  return IDLE_MS
}
