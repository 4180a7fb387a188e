import { PhpStarved, PhpTimeout } from './runtime.ts'
import { waitedMsOf } from './wasm/process-tree.ts'

/** However little of the processor it gets: nobody waits for PHP for longer than so many times its limit. */
const MOST_TIMES = 10
const LOOK_AGAIN_MS = 250

export interface TimeLimit {
  readonly ms: number
  /** Its time counts, and that of the processes below it. */
  readonly pid: number
  /** What did not end in time, as the beginning of a sentence. */
  readonly what: string
  readonly onOver: (error: PhpTimeout) => void
  /** Asked when its time is over, and again from then on: whether it may go on. Default: never. */
  readonly mayGoOn?: (() => boolean) | undefined
  /** Asked when its time is over: it may take so long, counted the same way. Default: no longer than `ms`. */
  readonly longMs?: (() => number) | undefined
  /** Default: as the kernel says. */
  readonly waitedMs?: (pid: number) => number
}

/**
 * Limits the time of a process without the time in which it could have computed and had no processor: on a busy machine the same
 * work takes ten times as long, and nothing is wrong with it. What sleeps, or waits for the disk, is counted.
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
