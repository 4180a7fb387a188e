import type { Socket } from 'node:net'
import { HostError } from './host-error.ts'

/** A request to a host. */
export interface HostRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Raw and flat. `Content-Length` is the length of the body; without it, the body ends with its stream. */
  readonly headers: readonly string[]
  readonly body?: AsyncIterable<Buffer> | undefined
}

/** Controls a request in progress. After the end it does nothing. */
export interface ExchangeControl {
  /** Data that has already been read is still delivered. */
  pause(): void
  resume(): void
  /** `onError` follows. */
  abort(): void
}

/** Gets the events of a request, asynchronously and in order. Either `onEnd` or `onError` comes last. */
export interface AnswerListener {
  /** The first bytes have arrived, so the host has seen the request. */
  onFirstBytes(): void
  /** @param raw names and values, flat, one character for each byte */
  onHead(status: number, reason: string, raw: string[]): void
  /** @param isLast `onEnd` follows at once; it may also come without this */
  onData(piece: Buffer, isLast: boolean): void
  onEnd(): void
  onError(error: NodeJS.ErrnoException): void
}

/** The part of a connection that a request on it uses. */
export interface ExchangeConnection {
  pause(): void
  resume(): void
  destroy(error: Error): void
}

/** One request, from its start to its end. */
export class HostExchange implements ExchangeControl {
  readonly request: HostRequest
  readonly #listener: AnswerListener
  /** Undefined while it waits for one. */
  connection: ExchangeConnection | undefined
  /** Removes it from the queue. */
  leave: (() => void) | undefined
  /** The head, sent first. Empty when it cannot be sent. */
  readonly head: string = ''
  isOver = false
  isSent = false
  isPaused = false
  hasHead = false
  #hasBytes = false

  constructor(request: HostRequest, listener: AnswerListener) {
    this.request = request
    this.#listener = listener
    try {
      this.head = headText(request)
    } catch (error) {
      this.#failLater(error as Error)
    }
  }

  firstBytes(): void {
    if (this.#hasBytes || this.isOver) return
    this.#hasBytes = true
    this.#listener.onFirstBytes()
  }

  answer(status: number, reason: string, raw: string[]): void {
    this.hasHead = true
    if (!this.isOver) this.#listener.onHead(status, reason, raw)
  }

  data(piece: Buffer, isLast: boolean): void {
    if (!this.isOver) this.#listener.onData(piece, isLast)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#listener.onEnd()
  }

  fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.#listener.onError(error)
  }

  #failLater(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    // The caller is in the middle of its own work.
    queueMicrotask(() => this.#listener.onError(error))
  }

  pause(): void {
    if (this.isOver || this.isPaused) return
    this.isPaused = true
    this.connection?.pause()
  }

  resume(): void {
    if (this.isOver || !this.isPaused) return
    this.isPaused = false
    this.connection?.resume()
  }

  abort(): void {
    const error = new HostError('HOST_ABORTED', 'the answer is no longer needed')
    if (!this.isOver) this.connection?.destroy(error)
    this.leave?.()
    this.#failLater(error)
  }
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const NO_PATH = /[^\x21-\xff]/
/** For these methods, servers expect an explicit empty length. */
const WITH_BODY = /^(?:POST|PUT|PATCH)$/

/** Returns the head of a request as text. @throws HostError */
function headText({ method, path, headers, body }: HostRequest): string {
  if (!NAME.test(method) || NO_PATH.test(path)) throw badRequest('the address')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    if (!NAME.test(name) || !VALUE.test(value)) throw badRequest(`the header ${JSON.stringify(name)}`)
    text += `${name}: ${value}\r\n`
  }
  if (lengthOf(headers) !== undefined) return `${text}\r\n`
  if (body) return `${text}transfer-encoding: chunked\r\n\r\n`
  return WITH_BODY.test(method) ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`
}

const badRequest = (what: string) => new HostError('HOST_BAD_REQUEST', `${what} cannot be sent`)

/** Returns the length of a request's body, if its headers state one. */
export function lengthOf(headers: readonly string[]): number | undefined {
  for (let i = 0; i < headers.length; i += 2)
    if ((headers[i] as string).toLowerCase() === 'content-length') return Number(headers[i + 1])
}

/**
 * @returns whether the complete body was sent; false when the exchange ended before @throws HostError when its length
 *   differs from the announced one
 */
export async function sendBody(socket: Socket, exchange: HostExchange, onPiece: () => void): Promise<boolean> {
  const { headers, body } = exchange.request
  const length = lengthOf(headers)
  let sent = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    if (exchange.isOver) return false
    onPiece()
    sent += piece.length
    if (length !== undefined && sent > length) throw badRequest('a body that is longer than it says')
    if (piece.length > 0 && !writePiece(socket, piece, length === undefined)) await drained(socket)
  }
  if (exchange.isOver) return false
  if (length === undefined) socket.write('0\r\n\r\n', 'latin1')
  else if (sent < length) throw badRequest('a body that is shorter than it says')
  return true
}

function writePiece(socket: Socket, piece: Buffer, isChunk: boolean): boolean {
  if (!isChunk) return socket.write(piece)
  socket.cork()
  socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
  socket.write(piece)
  const takesMore = socket.write('\r\n', 'latin1')
  socket.uncork()
  return takesMore
}

/** Resolves also when the connection ends. */
const drained = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed || !socket.writableNeedDrain) return resolve()
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
