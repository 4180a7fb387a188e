import { headerOf } from '../platform/http/request/raw-headers.ts'
import { type PlainPage, reasonOf, representation } from '../platform/plain-page.ts'
import { siteHeaders } from './proxy/site-headers.ts'
import type { Answer, Visit } from './visit.ts'

/** Turns a page into the answer for this visitor. Pages of the edge are never stored. */
export function pageAnswer(visit: Visit, page: PlainPage, headers: readonly string[] = [], close = false): Answer {
  const { contentType, body } = representation(page, visit.request.headers.accept)
  return {
    status: page.status,
    reason: page.reason,
    headers: [
      'Content-Type',
      contentType,
      'Cache-Control',
      'no-store',
      'X-Content-Type-Options',
      'nosniff',
      ...headers,
    ],
    body,
    close,
  }
}

/** Sends an answer. Does nothing when the visitor has left or already has a response. */
export function sendAnswer(visit: Visit, answer: Answer): void {
  const { response, outcome } = visit
  if (response.headersSent || response.destroyed) return
  if (answer.close) response.shouldKeepAlive = false
  const body = answer.body ?? Buffer.alloc(0)
  const headers = ['X-Request-Id', visit.id, ...answer.headers, ...siteHeaders(visit)]
  if (answer.status !== 204 && answer.status !== 304) headers.push('Content-Length', String(body.length))
  outcome.renderer ||= 'edge'
  outcome.contentType = headerOf(answer.headers, 'content-type') ?? ''
  response.writeHead(answer.status, answer.reason ?? reasonOf(answer.status), headers)
  if (visit.method === 'HEAD' || body.length === 0) {
    response.end()
    return
  }
  outcome.sentBytes += body.length
  response.end(body)
}
