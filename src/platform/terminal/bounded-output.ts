/** The most bytes that wait for a slow reader of one output of this process. Further lines are dropped. */
const MOST_WAITING_BYTES = 2 ** 20
/** PIPE_BUF: a pipe accepts this much completely or not at all, so that lines of several processes do not mix. */
const WHOLE_BYTES = 4096
const RETRY_MS = 20
const LONGEST_RETRY_MS = 500
/** The time limits at the exit: for a reader that reads nothing, and in total. */
const STALLED_MS = 1000
const FLUSH_MS = 5000

/**
 * Writes as much as the reader has space for.
 * @returns the number of bytes, or why it wrote none
 */
export type TryWrite = (bytes: Buffer) => number | 'full' | 'failed'

/**
 * An output that never waits for its reader. A pager that is not scrolled, a terminal after Ctrl-S, or a collector that
 * hangs would otherwise block the process in its write. Lines wait for a slow reader up to a limit. Beyond it they are
 * dropped and counted.
 */
export class BoundedOutput {
  /** Returns the line that follows a gap, as soon as there is space again. */
  describeGap = (lines: number): string => `Stead dropped ${lines} ${lines === 1 ? 'line' : 'lines'} of output here.\n`
  readonly #tryWrite: TryWrite
  readonly #mostBytes: number
  readonly #waiting: Buffer[] = []
  #bytes = 0
  #dropped = 0
  #retry: NodeJS.Timeout | undefined

  constructor(tryWrite: TryWrite, { mostBytes = MOST_WAITING_BYTES } = {}) {
    this.#tryWrite = tryWrite
    this.#mostBytes = mostBytes
  }

  /**
   * Writes text.
   * @param text whole lines
   */
  write(text: string): void {
    const bytes = Buffer.from(text)
    // Nothing is queued after an unreported gap, so that there is one gap and not a thousand.
    if (this.#dropped > 0) this.#drain()
    if (this.#dropped > 0 || this.#bytes + bytes.length > this.#mostBytes) {
      this.#dropped++
      return
    }
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    this.#drain()
  }

  /** Flushes at the end of the process. Waits as long as the reader reads, within a limit. */
  flush(): void {
    const begun = performance.now()
    let movedAt = begun
    let before = this.#bytes
    while (this.#drain() === 'full') {
      const now = performance.now()
      if (this.#bytes < before) movedAt = now
      if (now - movedAt > STALLED_MS || now - begun > FLUSH_MS) return
      before = this.#bytes
      // Sleep a millisecond, because the event loop has ended.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }

  /** @returns `full` if lines wait for the reader */
  #drain(): 'full' | 'done' {
    for (let bytes = this.#next(); bytes; bytes = this.#next()) {
      const written = this.#tryWrite(bytes)
      if (typeof written === 'number') {
        this.#bytes -= written
        if (written < bytes.length) this.#waiting.unshift(bytes.subarray(written))
      } else if (written === 'full') {
        this.#waiting.unshift(bytes)
        return this.#retryLater()
      } else {
        // The disk is full, or the reader has ended. The next line tries again.
        this.#bytes -= bytes.length
        this.#dropped++
      }
    }
    return this.#dropped > 0 ? this.#tellGap() : 'done'
  }

  #tellGap(): 'full' | 'done' {
    const bytes = Buffer.from(this.describeGap(this.#dropped))
    const written = this.#tryWrite(bytes)
    if (written === 'full') return this.#retryLater()
    if (written === 'failed') return 'done'
    this.#dropped = 0
    if (written === bytes.length) return 'done'
    this.#waiting.push(bytes.subarray(written))
    this.#bytes += bytes.length - written
    return this.#retryLater()
  }

  /** Returns several lines at once, as many as are written atomically. */
  #next(): Buffer | undefined {
    const first = this.#waiting.shift()
    if (!first) return undefined
    const lines = [first]
    for (let bytes = first.length; ; ) {
      const next = this.#waiting[0]
      if (!next || bytes + next.length > WHOLE_BYTES) break
      bytes += next.length
      lines.push(this.#waiting.shift() as Buffer)
    }
    return lines.length === 1 ? first : Buffer.concat(lines)
  }

  #retryLater(afterMs = RETRY_MS): 'full' {
    if (this.#retry) return 'full'
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      const before = this.#bytes
      this.#drain()
      // Retry a stalled reader less often.
      if (this.#retry && this.#bytes === before && afterMs < LONGEST_RETRY_MS) {
        clearTimeout(this.#retry)
        this.#retry = undefined
        this.#retryLater(afterMs * 2)
      }
    }, afterMs)
    this.#retry.unref()
    return 'full'
  }
}
