import { flushCompileCache } from 'node:module'
import { performance } from 'node:perf_hooks'
import { collectAllGarbage } from '../../platform/collect-garbage.ts'

/** Work that a start leaves for when a process is ready is done by then. */
const LOOK_EVERY_MS = 2000
/**
 * The busy share of the time between two checks. A busier process is serving requests, and would answer 0.1 to 0.3 s
 * later.
 */
const BUSY = 0.1

/**
 * Frees the memory that only the start needed: a quarter of a process's memory. V8 keeps it until it needs the room,
 * which never happens in an idle process. Collects once, at the first quiet moment. Node stores compiled code of new
 * sources when a process ends, which takes a fifth to half a second in each process. This stores it at the same moment,
 * so that the first stop is as short as the others.
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
    // Collected code is not stored.
    keepCompiled()
  }, LOOK_EVERY_MS)
  timer.unref()
}
