/** Finds a run of tests that waits for something that will not happen. */

/** A run is idle when it has worked less than `WORK_MS` for this long. A Stead that waits works more. */
export const QUIET_MS = 300_000
const WORK_MS = 3000

/**
 * Counts processor time, because a run on a busy machine may take as long as it needs.
 * @param spentMs the processor time of the run so far. It may fall when a process ends
 * @returns a function that is called now and then, and returns whether the run is idle
 */
export function idleAfter(spentMs: () => number, now = () => performance.now()): () => boolean {
  let worked = { atMs: now(), spentMs: spentMs() }
  return () => {
    const spent = spentMs()
    if (Math.abs(spent - worked.spentMs) >= WORK_MS) worked = { atMs: now(), spentMs: spent }
    return now() - worked.atMs >= QUIET_MS
  }
}
