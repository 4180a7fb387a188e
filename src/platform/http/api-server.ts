import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { httpProblems, type ProblemKind } from './problem.ts'
import { framingFault } from './request/framing.ts'
import { RequestTurns } from './request/turns.ts'

/** The most requests of a connection that wait while an earlier one is answered. */
const MOST_WAITING = 15

/** Returns the API's server, which does not listen yet. It answers malformed requests before it looks for a route. */
export function createApiServer(handler: RequestListener, mostBodyBytes: number): Server {
  const turns = new RequestTurns(MOST_WAITING)
  const server = createServer({ requestTimeout: 60_000, keepAliveTimeout: 65_000 }, (request, response) => {
    const begin = () => {
      const fault = framingFault(request)
      if (fault) refuse(response, fault.status, fault.reason)
      else handler(request, response)
    }
    turns.take(response, begin, () => refuse(response, 503, httpProblems.too_many_waiting.text))
  })
  server.on('checkContinue', (request, response) => {
    // The client need not send a body that is refused anyway.
    if (Number(request.headers['content-length'] ?? 0) > mostBodyBytes) {
      const limit = `${Math.round(mostBodyBytes / 1024)} kB`
      refuse(
        response,
        413,
        httpProblems.body_too_large.text.replace('{limit}', limit),
        httpProblems.body_too_large.code,
      )
      return
    }
    response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    turns.fail(error, socket, () => refuseUnreadable(error, socket)),
  )
  return server
}

const bodyOf = (code: string, text: string): string =>
  JSON.stringify({ message: text, data: null, errors: [text], code })

function refuse(
  response: ServerResponse,
  status: number,
  text: string,
  code = status === 503 ? httpProblems.too_many_waiting.code : httpProblems.invalid_http.code,
): void {
  const body = bodyOf(code, text)
  response
    .writeHead(status, {
      connection: 'close',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...(status === 503 && { 'retry-after': '5' }),
    })
    .end(body)
}

const unreadable: Record<string, ProblemKind> = {
  HPE_HEADER_OVERFLOW: httpProblems.head_too_large,
  ERR_HTTP_REQUEST_TIMEOUT: httpProblems.request_timeout,
}

/** Answers bytes that are not HTTP, for which no request object exists. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const { status, code, text } = unreadable[error.code ?? ''] ?? httpProblems.invalid_http
  const body = bodyOf(code, text)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
}
