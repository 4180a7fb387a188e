import { setTimeout as pause } from 'node:timers/promises'

/** How far a step is. */
export interface Progress {
  /** Of the whole operation, 0 to 100. */
  readonly percent: number
  /** Of a step that moves bytes. */
  readonly bytes?: StepBytes
}

export interface StepBytes {
  readonly done: number
  readonly total: number
  /** `null` while there is nothing to estimate it by. */
  readonly secondsLeft: number | null
}

/** Of a step that has not said anything of bytes. */
export const noBytesYet = { done_bytes: null, total_bytes: null, seconds_left: null } as const

/** Writes a value that changes often only once in a while. */
export interface ProgressWriter {
  set(progress: Progress): void
  /** Nothing is written any more when the promise is settled. */
  close(): Promise<void>
}

/** @param write must not throw: progress is never a reason to fail */
export function progressWriter(write: (progress: Progress) => Promise<void>, everyMs: number): ProgressWriter {
  const closing = new AbortController()
  let latest: Progress | undefined
  let written: Progress | undefined
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

const isSame = (one: Progress, other: Progress | undefined): boolean =>
  one.percent === other?.percent && one.bytes?.done === other.bytes?.done && one.bytes?.total === other.bytes?.total

/** No estimate by less: the first bytes come from caches, or wait for what must be opened. */
const LEAST_MS = 2000

/**
 * Says how long the rest takes, at the pace since the first call: what an attempt before this one has done is no measure for it.
 * @param elapsed milliseconds of a clock that nobody sets
 */
export function timeLeft(
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
