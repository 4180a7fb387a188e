/** The bytes and requests that a connection has transferred since its start. */
export interface Moved {
  /** All that the client has sent, without TLS overhead. */
  readonly readBytes: number
  readonly writtenBytes: number
  /** Of request bodies. */
  readonly bodyBytes: number
  readonly requests: number
}

/**
 * The burst of frames that request nothing: WINDOW_UPDATE, PRIORITY, padding, unknown types, and refused heads, such as
 * those in which a few bytes of HPACK expand to megabytes. Node emits no events for them, so they are computed: all
 * received bytes minus requests and bodies.
 */
const BURST_BYTES = 4 << 20
const BYTES_PER_SECOND = 64 << 10
/** A client that reads small pieces sends 26 bytes to open its windows for each. */
const WRITTEN_SHARE = 1 / 16
/** The share of a body that frames of a few bytes may add. */
const BODY_SHARE = 1 / 8

/**
 * Returns a function that checks, on each call, whether the connection's overhead is within its limit.
 * @param headBytes of one request, at most
 */
export function createOverheadBound(headBytes: number): (moved: Moved, nowMs: number) => boolean {
  let left = BURST_BYTES
  let before = { readBytes: 0, allowedBytes: 0, atMs: Number.NaN }
  return ({ readBytes, writtenBytes, bodyBytes, requests }, nowMs) => {
    const allowedBytes = bodyBytes * (1 + BODY_SHARE) + writtenBytes * WRITTEN_SHARE + requests * headBytes
    const seconds = Number.isNaN(before.atMs) ? 0 : (nowMs - before.atMs) / 1000
    const spent = readBytes - before.readBytes - (allowedBytes - before.allowedBytes)
    left = Math.min(BURST_BYTES, Math.min(BURST_BYTES, left + seconds * BYTES_PER_SECOND) - spent)
    before = { readBytes, allowedBytes, atMs: nowMs }
    return left >= 0
  }
}
