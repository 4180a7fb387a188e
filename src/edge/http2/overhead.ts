/** What a connection has moved since it began. */
export interface Moved {
  /** All that the client has sent, TLS aside. */
  readonly readBytes: number
  readonly writtenBytes: number
  /** Of request bodies. */
  readonly bodyBytes: number
  readonly requests: number
}

/**
 * Frames that ask for nothing: WINDOW_UPDATE, PRIORITY, padding, unknown types, and heads that were refused, such as those that a few bytes of
 * HPACK unfold into megabytes. Node tells nobody of them, so they are what is left of the bytes that came when requests and bodies are taken off.
 */
const BURST_BYTES = 4 << 20
const BYTES_PER_SECOND = 64 << 10
/** A client that reads small pieces opens its windows by 26 bytes for each. */
const WRITTEN_SHARE = 1 / 16
/** Of a body, for frames of a few bytes. */
const BODY_SHARE = 1 / 8

/**
 * Returns a function that tells, each time that it is asked, whether the connection carries no more overhead than it may.
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
