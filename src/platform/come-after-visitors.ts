import { setPriority } from 'node:os'

/** Behind what answers visitors, but not so far that who waits for a backup or restore waits for ever on a busy machine. */
const NICE = 5

/**
 * The thread that calls it has a lower priority from then on, it alone. Only on Linux: elsewhere priorities are those of processes.
 * @param pid of a program that was started a moment ago: it, and what it starts
 */
export function comeAfterVisitors(pid = 0): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(pid, NICE)
  } catch {
    // started with a lower one already: the work is done all the same
  }
}
