import { setTimeout as sleep } from 'node:timers/promises'

export interface YieldWhileBusyOptions {
  /** Whether others are at work that goes before. */
  readonly isWanted: () => boolean
  readonly now?: () => number
  readonly pause?: (ms: number) => Promise<unknown>
}

/** How often it is looked whether the others are done, milliseconds: a page takes some ten times as long. */
const LOOK_MS = 5
/** What was worked and not waited for counts up to this, milliseconds. */
const MOST_MS = 500

/**
 * Makes that long work lets others go first, whatever the machine's priorities are: where Linux weighs sessions, a lower priority of a thread
 * counts for nothing against the processes of sites.
 * @returns to be awaited between pieces of the work, by all who do some of it: it waits while others want the processor, but never longer than
 * was worked, so that the work takes at most twice its time
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
