import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '../../../platform/collect-garbage.ts'

/** Has V8 give back what bodies leave behind, when there is much of it. */
export interface Garbage {
  /** Something was let go, or came and was not kept: looks now and then whether there is too much. */
  mayHaveGrown(): void
}

export interface GarbageOptions {
  /** What is in use, of what is counted below. */
  readonly inUse: () => number
  /** So much besides is left alone. */
  readonly mostBytes: number
  /** Of buffers, with those that nobody uses any more. */
  readonly external?: () => number
  readonly collect?: () => void
}

/** Bodies that come or go between two looks: a look costs 2 µs. */
const LOOK_EVERY = 16
/** Between two collections: one takes the thread for some ms. */
const PAUSE_MS = 250
/** Buffers are freed by another thread. */
const SWEEP_MS = 50
const LONGEST_PAUSE_MS = 60_000

/**
 * V8 counts buffers, and begins to mark what is in use when there are 64 MB more than after the last time; until it is done, as much again
 * comes. For a cache that much comes through that is more than it holds. Where collecting does not help, because something else holds buffers, it
 * is tried less and less often.
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
      // not while a visitor's request is being answered
      setImmediate(run)
    },
  }
}
