import type { Visit } from '../visit.ts'

/** One visitor request in the terms of the API's web server log, and the site it belongs to. */
export interface AccessEntry {
  /** Undefined for host names of no site. */
  readonly siteId: number | undefined
  readonly body_bytes_sent: number
  /** What the cache did. Empty if it was not involved. */
  readonly cached: string
  /** ISO 8601, UTC. */
  readonly date: string
  /** `h2` over HTTP/2, otherwise empty. */
  readonly http2: string
  readonly http_host: string
  readonly http_referer: string
  readonly http_user_agent: string
  readonly http_version: string
  /** As the visitor sent it, trusted or not. */
  readonly http_x_forwarded_for: string
  /** What made the body: `php`, `static`, `edge`. */
  readonly renderer: string
  /** `OK`, or empty when the visitor did not get all of it. */
  readonly request_completion: string
  /** Seconds from the request's head to the end of the response. */
  readonly request_time: number
  readonly request_type: string
  readonly request_url: string
  readonly scheme: string
  readonly status: number
  /** Unix time in seconds. */
  readonly timestamp: number
  readonly type: string
  readonly user_ip: string
}

/**
 * Returns the log entry of a visit whose response is closed.
 * @param nowMs wall clock at the end
 * @param monotonicMs monotonic clock at the end
 */
export function accessEntry(visit: Visit, nowMs: number, monotonicMs: number): AccessEntry {
  const { request, response, outcome, client } = visit
  const { headers } = request
  const tookMs = monotonicMs - visit.startedAtMs
  return {
    siteId: visit.route?.siteId,
    body_bytes_sent: outcome.sentBytes,
    cached: outcome.cached,
    date: new Date(nowMs - tookMs).toISOString(),
    http2: request.httpVersionMajor === 2 ? 'h2' : '',
    http_host: visit.host,
    http_referer: headers.referer ?? '',
    http_user_agent: headers['user-agent'] ?? '',
    http_version: `HTTP/${request.httpVersion}`,
    http_x_forwarded_for: String(headers['x-forwarded-for'] ?? ''),
    renderer: outcome.renderer,
    request_completion: response.writableFinished ? 'OK' : '',
    request_time: Math.round(tookMs) / 1000,
    request_type: visit.method,
    request_url: visit.target,
    scheme: client.scheme,
    // nginx logs 499 for a visitor who left before there was a status.
    status: response.headersSent ? response.statusCode : 499,
    timestamp: Math.floor((nowMs - tookMs) / 1000),
    type: 'access',
    user_ip: client.address,
  }
}
