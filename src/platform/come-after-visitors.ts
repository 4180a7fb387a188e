import { setPriority } from 'node:os'

/** Lower than the priority for visitors, but high enough that a backup or restore still finishes on a busy machine. */
const NICE = 5

/**
 * Lowers the priority of the calling thread only. Works only on Linux, because other systems have priorities for whole
 * processes.
 * @param pid the process id of a program that was just started; it then applies to the program and its children
 */
export function comeAfterVisitors(pid = 0): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(pid, NICE)
  } catch {
    // It already has a lower priority. The work still runs.
  }
}
