import { PhpStarved, PhpTimeout } from './runtime.ts'
import { waitedMsOf } from './wasm/process-tree.ts'

/** However little processor time PHP gets, callers wait for at most this many times its limit. */
const MOST_TIMES = 10
const LOOK_AGAIN_MS = 250

export interface TimeLimit {
  readonly ms: number
  /** Its time counts, and that of the processes below it. */
  readonly pid: number
  /** What did not end in time, as the beginning of a sentence. */
  readonly what: string
  readonly onOver: (error: PhpTimeout) => void
  /**
   * Called when the time is over, and repeatedly from then on. Returns whether the process may continue. Default:
   * never.
   */
  readonly mayGoOn?: (() => boolean) | undefined
  /** Called when the time is over. Returns how long it may take, counted the same way. Default: no longer than `ms`. */
  readonly longMs?: (() => number) | undefined
  /** Default: as the kernel reports it. */
  readonly waitedMs?: (pid: number) => number
}

/**
 * Limits the time of a process, not counting the time in which it was ready to run and had no processor. On a busy
 * machine the same work takes ten times as long, and nothing is wrong with it. Sleeping, or waiting for the disk, is
 * counted.
 * @returns a function that lifts the limit
 */
export function limitTime({ ms, pid, what, onOver, mayGoOn, longMs, waitedMs = waitedMsOf }: TimeLimit): () => void {
  const startedAt = performance.now()
  const waitedBefore = waitedMs(pid)
  let timer: NodeJS.Timeout
  const look = () => {
    const elapsed = performance.now() - startedAt
    const counted = elapsed - Math.max(0, waitedMs(pid) - waitedBefore)
    const most = counted < ms ? ms : Math.max(ms, longMs?.() ?? 0)
    if (counted >= most && mayGoOn?.()) wait(LOOK_AGAIN_MS)
    else if (counted >= most) onOver(new PhpTimeout(`${what} in time`))
    else if (elapsed >= ms * MOST_TIMES) onOver(new PhpStarved(`${what} in time: this server is too busy to run PHP`))
    else wait(Math.max(LOOK_AGAIN_MS, most - counted))
  }
  const wait = (inMs: number) => {
    timer = setTimeout(look, inMs)
  }
  wait(ms)
  return () => clearTimeout(timer)
}
