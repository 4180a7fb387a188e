import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Budget, Share } from '../../platform/budgets/budget.ts'
import { peerAddress } from '../../platform/http/client/client-address.ts'
import type { EdgeLimits } from '../edge-limits.ts'
import { createFloodLimiter } from '../flood-limiter.ts'
import { Http2Request } from './http2-request.ts'
import { createOverheadBound } from './overhead.ts'
import { Http2Response } from './response.ts'

/** What HTTP/2 sessions need. */
export interface Http2SessionsOptions {
  readonly limits: EdgeLimits
  /** Connections of a visitor. The streams of a connection count as well, from the second on. */
  readonly connections: Budget | undefined
  readonly isTrusted: (address: string) => boolean
  readonly onRequest: (request: Http2Request, response: Http2Response) => void
}

/** Connections that speak HTTP/2. */
export interface Http2Sessions {
  /** Takes over a connection that negotiated `h2`. */
  accept(socket: TLSSocket): void
  /** Stops accepting requests. Each connection ends with its last request in flight. */
  close(): void
}

/**
 * Connection-wide, so that 100 uploads do not share the window of one. Unread data of a stream stays within its own
 * window.
 */
const CONNECTION_WINDOW_BYTES = 1 << 20
const STREAM_WINDOW_BYTES = 65_535
/** A visitor who leaves a page cancels all its requests at once, some times a minute. */
const RESETS = { streamResetBurst: 300, streamResetRate: 30 }
/** PING and SETTINGS: a browser sends a few a minute. */
const SIGNALS = { burst: 100, perSecond: 10 }
/** Many small cookies are a field each. */
const MOST_FIELDS = 1_000
/** The longest time between two checks of connections, and so the longest duration of a flood. */
const LOOK_EVERY_MS = 1_000
/** The time to send the last frames to a peer that does not close its side. */
const FAREWELL_MS = 2_000

/** Creates sessions for connections, and enforces their bounds. Does not listen. */
export function createHttp2Sessions(options: Http2SessionsOptions): Http2Sessions {
  const { limits } = options
  const sessions = new Set<Session>()
  let isClosing = false
  const look = () => {
    const nowMs = performance.now()
    for (const session of sessions) session.look(nowMs)
  }
  const { keepAliveTimeoutMs, headersTimeoutMs, stallTimeoutMs, requestTimeoutMs } = limits
  const lookMs = Math.min(LOOK_EVERY_MS, keepAliveTimeoutMs, headersTimeoutMs, stallTimeoutMs, requestTimeoutMs)
  const timer = setInterval(look, lookMs).unref()
  return {
    accept(socket) {
      const session = new Session(socket, options, () => sessions.delete(session))
      sessions.add(session)
      if (isClosing) session.end()
    },
    close() {
      isClosing = true
      clearInterval(timer)
      for (const session of sessions) session.end()
    },
  }
}

/** A request and its answer. */
interface Exchange {
  readonly request: Http2Request
  readonly response: Http2Response
  readonly startedAtMs: number
  /** The bytes of both bodies at the last check. */
  movedBytes: number
  movedAtMs: number
}

class Session {
  readonly #options: Http2SessionsOptions
  readonly #socket: TLSSocket
  readonly #session: ServerHttp2Session
  readonly #share: Share | undefined
  readonly #open = new Map<ServerHttp2Stream, Exchange>()
  /** Monotonic. Valid while no stream is open. */
  #idleSinceMs = performance.now()
  #requests = 0
  /** Body bytes of finished requests. */
  #endedBodyBytes = 0
  readonly #isWithinBound: ReturnType<typeof createOverheadBound>

  constructor(socket: TLSSocket, options: Http2SessionsOptions, onClose: () => void) {
    const { limits, connections, isTrusted } = options
    this.#options = options
    this.#socket = socket
    this.#isWithinBound = createOverheadBound(limits.headerBytes)
    const address = peerAddress(socket)
    this.#share = isTrusted(address) ? undefined : connections?.share(addressKey(address))
    this.#session = performServerHandshake(socket, {
      ...RESETS,
      maxHeaderListPairs: MOST_FIELDS,
      maxSessionMemory: limits.sessionMemoryMb,
      // A host may repeat headers that should occur once, as over HTTP/1.
      strictSingleValueFields: false,
      settings: {
        enablePush: false,
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.headerBytes,
        initialWindowSize: STREAM_WINDOW_BYTES,
      },
    })
    const session = this.#session
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
    session.on('error', () => socket.destroy())
    session.on('stream', (stream, headers, _flags, raw) => this.#take(stream, headers, raw))
    session.once('close', () => {
      this.#share?.free()
      onClose()
    })
    this.#demandCalm()
  }

  #demandCalm(): void {
    const session = this.#session
    const isWithinLimit = createFloodLimiter(SIGNALS.burst, SIGNALS.perSecond)
    const look = () => {
      if (!isWithinLimit()) this.#refuseFlood()
    }
    session.on('ping', look)
    session.on('remoteSettings', look)
  }

  #refuseFlood(): void {
    const session = this.#session
    if (session.destroyed) return
    session.removeAllListeners('ping').removeAllListeners('remoteSettings')
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    // Sends the reason first.
    setImmediate(() => session.destroy())
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on('error', () => {})
    // Already cancelled: does nothing for it.
    if (stream.closed || stream.destroyed) return
    const counts = this.#open.size > 0 && this.#share !== undefined
    if (counts && !this.#share?.take(1)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    const request = new Http2Request(stream, headers, raw, this.#socket)
    const response = new Http2Response(stream)
    const nowMs = performance.now()
    this.#open.set(stream, { request, response, startedAtMs: nowMs, movedBytes: 0, movedAtMs: nowMs })
    this.#requests++
    stream.once('close', () => {
      if (counts) this.#share?.give(1)
      this.#open.delete(stream)
      this.#endedBodyBytes += request.receivedBytes
      if (this.#open.size === 0) this.#idleSinceMs = performance.now()
    })
    this.#options.onRequest(request, response)
  }

  /** Ends what takes too long. Unlike with Node's own timers, PING keeps neither a connection nor a stream alive. */
  look(nowMs: number): void {
    if (!this.#isWithinBound(this.#moved(), nowMs)) {
      this.#refuseFlood()
      return
    }
    for (const [stream, exchange] of this.#open)
      if (this.#isOverdue(exchange, nowMs)) stream.close(constants.NGHTTP2_CANCEL)
    if (this.#open.size === 0 && this.#isIdle(nowMs)) this.end()
  }

  #moved() {
    let bodyBytes = this.#endedBodyBytes
    for (const { request } of this.#open.values()) bodyBytes += request.receivedBytes
    const { bytesRead: readBytes, bytesWritten: writtenBytes } = this.#socket
    return { readBytes, writtenBytes, bodyBytes, requests: this.#requests }
  }

  /** Returns whether a request is stalled, or its body takes too long, as for HTTP/1. */
  #isOverdue(exchange: Exchange, nowMs: number): boolean {
    const { stallTimeoutMs, requestTimeoutMs } = this.#options.limits
    const { request, response } = exchange
    const movedBytes = request.receivedBytes + response.takenBytes
    if (movedBytes !== exchange.movedBytes) {
      exchange.movedBytes = movedBytes
      exchange.movedAtMs = nowMs
    }
    if (nowMs - exchange.movedAtMs >= stallTimeoutMs) return true
    return !request.complete && nowMs - exchange.startedAtMs >= requestTimeoutMs
  }

  #isIdle(nowMs: number): boolean {
    const { keepAliveTimeoutMs, headersTimeoutMs } = this.#options.limits
    return nowMs - this.#idleSinceMs >= (this.#requests > 0 ? keepAliveTimeoutMs : headersTimeoutMs)
  }

  /** Sends GOAWAY. Requests in flight are answered. */
  end(): void {
    if (this.#session.destroyed) return
    const farewell = () => setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref()
    if (this.#open.size === 0) farewell()
    else this.#session.once('close', farewell)
    this.#session.close()
  }
}
