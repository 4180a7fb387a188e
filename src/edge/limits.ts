import type { PaceLimits } from './gateway/body-pace.ts'
import type { UpstreamLimits } from './proxy/upstreams.ts'

/** Limits of an edge process. */
export interface EdgeLimits {
  /** Visitors' connections at a time; more are closed at once. */
  readonly connections: number
  /** Requests of one connection, the one that is being answered and those that wait behind it (which browsers do not do). */
  readonly pipelined: number
  /** Requests of one connection of HTTP/2 at a time. */
  readonly streams: number
  /** What a connection of HTTP/2 may take by itself, besides what is under way on it. */
  readonly sessionMemoryMb: number
  /** All header lines and the request line of a request together. */
  readonly headerBytes: number
  readonly urlBytes: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number
  /** From the first byte of a request to the end of its body, however steadily it comes; slow ones end much earlier, by `bodyPace`. */
  readonly requestTimeoutMs: number
  /** How slowly a body may come. */
  readonly bodyPace: PaceLimits
  /** Idle connection between two requests. */
  readonly keepAliveTimeoutMs: number
  /** Connection on which nothing moves in either direction; must be longer than the host may think. */
  readonly stallTimeoutMs: number
  /** How long requests under way may go on when the edge stops. */
  readonly closeTimeoutMs: number
  readonly upstream: UpstreamLimits
}

/** What is in force where nothing else is said. */
export const defaultLimits: EdgeLimits = {
  connections: 16_384,
  pipelined: 16,
  streams: 100,
  sessionMemoryMb: 20,
  headerBytes: 32_768,
  urlBytes: 16_384,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 86_400_000,
  // 1 kB a second
  bodyPace: { windowMs: 120_000, leastBytes: 120_000 },
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 180_000,
  closeTimeoutMs: 10_000,
  upstream: { connections: 2_048, connectTimeoutMs: 3_000, responseTimeoutMs: 150_000, bodyTimeoutMs: 120_000 },
}
