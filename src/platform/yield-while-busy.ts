import { setTimeout as sleep } from 'node:timers/promises'

export interface YieldWhileBusyOptions {
  /** Returns whether others with precedence are busy. */
  readonly isWanted: () => boolean
  readonly now?: () => number
  readonly pause?: (ms: number) => Promise<unknown>
}

/** How often it checks whether the others are done, in milliseconds. A page takes about ten times as long. */
const LOOK_MS = 5
/** The limit for work without a wait that counts, in milliseconds. */
const MOST_MS = 500

/**
 * Makes long work let others go first, whatever the machine's priorities. If Linux schedules by session, a thread's
 * lower priority has no effect against the processes of sites.
 * @returns a function that all workers await between pieces of the work. It waits while others need the processor, but
 * never longer than the work took, so that the work takes at most twice its time
 */
export function createYieldWhileBusy({
  isWanted,
  now = () => performance.now(),
  pause = sleep,
}: YieldWhileBusyOptions) {
  let since = now()
  let worked = 0
  let waiting: Promise<void> | undefined
  const wait = async () => {
    worked = Math.min(MOST_MS, worked + now() - since)
    while (worked >= LOOK_MS && isWanted()) {
      const began = now()
      await pause(LOOK_MS)
      worked -= now() - began
    }
    since = now()
  }
  return (): Promise<void> => {
    waiting ??= wait().finally(() => {
      waiting = undefined
    })
    return waiting
  }
}
