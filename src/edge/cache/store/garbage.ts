import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '../../../platform/collect-garbage.ts'

/** Makes V8 free unused bodies when there are many. */
export interface Garbage {
  /** Called when a body was dropped, or arrived and was not stored. Checks now and then whether there is too much. */
  mayHaveGrown(): void
}

export interface GarbageOptions {
  /** The counted bytes that are in use. */
  readonly inUse: () => number
  /** Less than this is left alone. */
  readonly mostBytes: number
  /** Bytes of buffers, including unused ones. */
  readonly external?: () => number
  readonly collect?: () => void
}

/** Bodies that come or go between two checks. A check costs 2 µs. */
const LOOK_EVERY = 16
/** The pause between two collections: each blocks the thread for some milliseconds. */
const PAUSE_MS = 250
/** Another thread frees the buffers. */
const SWEEP_MS = 50
const LONGEST_PAUSE_MS = 60_000

/**
 * Creates the collector. V8 starts to mark when buffers have grown by 64 MB since the last time, and as much again
 * arrives until it is done. For a busy cache, that is more than it stores. If collecting does not help because
 * something else holds buffers, it runs less and less often.
 */
export function createGarbage(options: GarbageOptions): Garbage {
  const { inUse, mostBytes, external = () => getHeapStatistics().external_memory, collect = collectGarbage } = options
  let looks = 0
  let nextAtMs = 0
  let pauseMs = PAUSE_MS
  const excess = () => external() - inUse() - mostBytes
  const run = () => {
    collect()
    setTimeout(() => {
      pauseMs = excess() > -mostBytes / 2 ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : PAUSE_MS
      nextAtMs = performance.now() + pauseMs
    }, SWEEP_MS).unref()
  }
  return {
    mayHaveGrown() {
      if (++looks % LOOK_EVERY !== 0 || performance.now() < nextAtMs || excess() <= 0) return
      nextAtMs = Number.POSITIVE_INFINITY
      // Not while a visitor's request is being answered.
      setImmediate(run)
    },
  }
}
