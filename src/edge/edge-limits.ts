import type { PaceLimits } from './gateway/body-pace.ts'
import type { UpstreamLimits } from './host-client/host-connection.ts'

/** Limits of an edge process. */
export interface EdgeLimits {
  /** Visitors' connections at once. Further ones are closed immediately. */
  readonly connections: number
  /**
   * Requests of one connection: the one that is being answered, and those that wait behind it (browsers do not do
   * that).
   */
  readonly pipelined: number
  /** Concurrent requests of one HTTP/2 connection. */
  readonly streams: number
  /** Memory of an HTTP/2 connection itself, besides its requests in flight. */
  readonly sessionMemoryMb: number
  /** All header lines and the request line of a request together. */
  readonly headerBytes: number
  readonly urlBytes: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number
  /**
   * From the first byte of a request to the end of its body, even at a steady rate. Slow ones end much earlier, by
   * `bodyPace`.
   */
  readonly requestTimeoutMs: number
  /** How slowly a body may arrive. */
  readonly bodyPace: PaceLimits
  /** For an idle connection between two requests. */
  readonly keepAliveTimeoutMs: number
  /** For a connection without progress in either direction. Must exceed the response time of hosts. */
  readonly stallTimeoutMs: number
  /** How long requests in flight may continue when the edge stops. */
  readonly closeTimeoutMs: number
  readonly upstream: UpstreamLimits
}

/** The default limits. */
export const defaultLimits: EdgeLimits = {
  connections: 16_384,
  pipelined: 16,
  streams: 100,
  sessionMemoryMb: 20,
  headerBytes: 32_768,
  urlBytes: 16_384,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 86_400_000,
  // 1 kB per second
  bodyPace: { windowMs: 120_000, leastBytes: 120_000 },
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 180_000,
  closeTimeoutMs: 10_000,
  upstream: { connections: 2_048, connectTimeoutMs: 3_000, responseTimeoutMs: 150_000, bodyTimeoutMs: 120_000 },
}
