import { flushCompileCache } from 'node:module'
import { performance } from 'node:perf_hooks'
import { collectAllGarbage } from '../platform/collect-garbage.ts'

/** What a start still has to do when a part is ready is done by then. */
const LOOK_EVERY_MS = 2000
/** Of the time between two looks: who is busier is asked for something, and would answer 0.1 to 0.3 s later. */
const BUSY = 0.1

/**
 * Most of what a start has made is of no use after it: a quarter of a part's memory. V8 keeps that until it needs the room, so never
 * where little is to be done. Collected once, as soon as there is a moment for it. Node writes what it has compiled of new sources when a
 * process ends, a fifth to half a second in each part: that is done in the same moment, so that the first stop is as short as the others.
 */
export function giveBackAfterStart(collect = collectAllGarbage, keepCompiled = flushCompileCache): void {
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > BUSY) return
    clearInterval(timer)
    collect()
    // what was collected of it is not kept
    keepCompiled()
  }, LOOK_EVERY_MS)
  timer.unref()
}
