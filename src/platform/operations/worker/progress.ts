import { setTimeout as pause } from 'node:timers/promises'

/** The progress of a step. */
export interface StepProgress {
  /** The progress of the whole operation, 0 to 100. */
  readonly percent: number
  /** Set for a step that moves bytes. */
  readonly bytes?: StepBytes
}

export interface StepBytes {
  readonly done: number
  readonly total: number
  /** `null` while it cannot be estimated. */
  readonly secondsLeft: number | null
}

/** The values of a step that has not reported any bytes. */
export const noBytesYet = { done_bytes: null, total_bytes: null, seconds_left: null } as const

/** Writes a frequently changing value only once per interval. */
export interface ProgressWriter {
  set(progress: StepProgress): void
  /** Stops writing. Nothing is written after the promise resolves. */
  close(): Promise<void>
}

/** @param write must not throw, because progress must never cause a failure */
export function progressWriter(write: (progress: StepProgress) => Promise<void>, everyMs: number): ProgressWriter {
  const closing = new AbortController()
  let latest: StepProgress | undefined
  let written: StepProgress | undefined
  let writing: Promise<void> | undefined

  const writeChanges = async () => {
    while (!closing.signal.aborted && latest !== undefined && !isSame(latest, written)) {
      written = latest
      await write(latest)
      await pause(everyMs, undefined, { signal: closing.signal }).catch(() => {})
    }
    writing = undefined
  }
  return {
    set(progress) {
      latest = progress
      writing ??= writeChanges()
    },
    async close() {
      closing.abort()
      await writing
    },
  }
}

const isSame = (one: StepProgress, other: StepProgress | undefined): boolean =>
  one.percent === other?.percent && one.bytes?.done === other.bytes?.done && one.bytes?.total === other.bytes?.total

/** The shortest time for an estimate, because the first bytes come from caches, or wait for files to be opened. */
const LEAST_MS = 2000

/**
 * Estimates the time for the rest at the pace since the first call. The work of an earlier attempt does not count.
 * @param elapsed milliseconds of a clock that is never set
 */
export function estimateTimeLeft(
  elapsed: () => number = () => performance.now(),
): (done: number, total: number) => number | null {
  let first: { readonly at: number; readonly done: number } | undefined
  return (done, total) => {
    first ??= { at: elapsed(), done }
    const took = elapsed() - first.at
    const moved = done - first.done
    if (took < LEAST_MS || moved <= 0) return null
    return Math.ceil((Math.max(0, total - done) * took) / moved / 1000)
  }
}
