import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { plainPage, reasonOf } from '../../platform/plain-page.ts'

/** Refuses CONNECT, which asks for a tunnel: the edge is not a forward proxy. */
export function answerConnect(socket: Duplex): void {
  endWith(socket, 405, 'This server does not open tunnels.', 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n')
}

/** Answers what Node's parser could not read, or what took too long, and closes the connection. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = statusOf(error)
  endWith(socket, status, TEXTS[status] as string)
}

const tooMany = 'Too many connections from one address.\n'
const TOO_MANY =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Type: text/plain\r\n' +
  `Content-Length: ${tooMany.length}\r\nConnection: close\r\n\r\n${tooMany}`

/** Answers and closes at once, so that a client with too many connections does not hold this one, too. */
export function answerTooMany(socket: Socket): void {
  socket.on('error', () => {})
  socket.write(TOO_MANY)
  socket.destroySoon()
}

const TEXTS: Record<number, string> = {
  400: 'The request is malformed.',
  408: 'The request took too long to arrive.',
  414: 'The address is too long.',
  431: 'The headers of the request are too large.',
}

function statusOf(error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number }): number {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (error.code !== 'HPE_HEADER_OVERFLOW') return 400
  // The request line alone was too long if the parser stopped before its end.
  return error.rawPacket?.subarray(0, error.bytesParsed).includes('\n') === false ? 414 : 431
}

function endWith(socket: Duplex, status: number, text: string, headers = ''): void {
  const body = plainPage({ status, title: reasonOf(status), text }).html
  socket.end(
    `HTTP/1.1 ${status} ${reasonOf(status)}\r\nX-Request-Id: ${randomUUID()}\r\nDate: ${new Date().toUTCString()}\r\n${headers}` +
      `Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  // A peer that never closes its side must not keep the socket.
  setTimeout(() => socket.destroy(), 2_000).unref()
}
