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
import { plainAddress } from '../client-address.ts'
import type { EdgeLimits } from '../limits.ts'
import { createCalm } from './calm.ts'
import { Http2Request } from './request.ts'
import { Http2Response } from './response.ts'

/** What sessions of HTTP/2 need. */
export interface Http2SessionsOptions {
  readonly limits: EdgeLimits
  /** Of a visitor: the streams of a connection count beside it, from the second on. */
  readonly connections: Budget | undefined
  readonly isTrusted: (address: string) => boolean
  readonly onRequest: (request: Http2Request, response: Http2Response) => void
}

/** Connections that speak HTTP/2. */
export interface Http2Sessions {
  /** Takes over a connection that has agreed on `h2`. */
  accept(socket: TLSSocket): void
  /** No new requests; each connection ends with the last of those under way. */
  close(): void
}

/** Connection-wide: 100 uploads at a time are not to share the window of one. What is not read of a stream stays within its own. */
const CONNECTION_WINDOW_BYTES = 1 << 20
const STREAM_WINDOW_BYTES = 65_535
/** Who turns away from a page takes all its requests back at once, some times a minute. */
const RESETS = { streamResetBurst: 300, streamResetRate: 30 }
/** PING and SETTINGS: a browser sends a few a minute. */
const SIGNALS = { burst: 100, perSecond: 10 }
/** Many small cookies are a field each. */
const MOST_FIELDS = 1_000
/** Time for the last words to a peer that does not close its side. */
const FAREWELL_MS = 2_000

/** Makes sessions of connections, and keeps their bounds; listens to nothing itself. */
export function createHttp2Sessions(options: Http2SessionsOptions): Http2Sessions {
  const { limits } = options
  const sessions = new Set<Session>()
  let isClosing = false
  const look = () => {
    const nowMs = performance.now()
    for (const session of sessions) session.endIfIdle(nowMs)
  }
  const timer = setInterval(look, Math.min(5_000, limits.keepAliveTimeoutMs, limits.headersTimeoutMs)).unref()
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

class Session {
  readonly #options: Http2SessionsOptions
  readonly #socket: TLSSocket
  readonly #session: ServerHttp2Session
  readonly #share: Share | undefined
  #open = 0
  /** Monotonic; while nothing is open. */
  #idleSinceMs = performance.now()
  #wasAsked = false

  constructor(socket: TLSSocket, options: Http2SessionsOptions, onClose: () => void) {
    const { limits, connections, isTrusted } = options
    this.#options = options
    this.#socket = socket
    const address = plainAddress(socket.remoteAddress ?? '')
    this.#share = isTrusted(address) ? undefined : connections?.share(addressKey(address))
    this.#session = performServerHandshake(socket, {
      ...RESETS,
      maxHeaderListPairs: MOST_FIELDS,
      maxSessionMemory: limits.sessionMemoryMb,
      // a host may say twice what should be said once, as over HTTP/1
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
    session.setTimeout(limits.stallTimeoutMs, () => session.destroy())
    session.on('error', () => socket.destroy())
    session.on('stream', (stream, headers, _flags, raw) => this.#take(stream, headers, raw))
    session.once('close', () => {
      this.#share?.free()
      onClose()
    })
    this.#demandCalm()
  }

  #demandCalm(): void {
    const isCalm = createCalm(SIGNALS.burst, SIGNALS.perSecond)
    const look = () => {
      if (!isCalm()) this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
    this.#session.on('ping', look)
    this.#session.on('remoteSettings', look)
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on('error', () => {})
    // taken back already: nothing is done for it
    if (stream.closed || stream.destroyed) return
    const counts = this.#open > 0 && this.#share !== undefined
    if (counts && !this.#share?.take(1)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    this.#open++
    this.#wasAsked = true
    stream.once('close', () => {
      if (counts) this.#share?.give(1)
      if (--this.#open === 0) this.#idleSinceMs = performance.now()
    })
    this.#setTimes(stream)
    this.#options.onRequest(new Http2Request(stream, headers, raw, this.#socket), new Http2Response(stream))
  }

  /** As a connection of HTTP/1 has them: one on which nothing moves, and a body that does not come to an end. */
  #setTimes(stream: ServerHttp2Stream): void {
    const { stallTimeoutMs, requestTimeoutMs } = this.#options.limits
    stream.setTimeout(stallTimeoutMs, () => stream.close(constants.NGHTTP2_CANCEL))
    if (stream.endAfterHeaders) return
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestTimeoutMs).unref()
    const stop = () => clearTimeout(timer)
    stream.once('end', stop)
    stream.once('close', stop)
  }

  /** PING does not keep a connection, nor do the first bytes of a request. */
  endIfIdle(nowMs: number): void {
    if (this.#open > 0) return
    const { keepAliveTimeoutMs, headersTimeoutMs } = this.#options.limits
    if (nowMs - this.#idleSinceMs >= (this.#wasAsked ? keepAliveTimeoutMs : headersTimeoutMs)) this.end()
  }

  /** GOAWAY; what is under way is answered. */
  end(): void {
    if (this.#session.destroyed) return
    const farewell = () => setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref()
    if (this.#open === 0) farewell()
    else this.#session.once('close', farewell)
    this.#session.close()
  }
}
