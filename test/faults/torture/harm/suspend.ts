import { setTimeout as pause } from 'node:timers/promises'
import { type Harm, parts } from './harm.ts'

/**
 * Longer than the lease of an operation (8 s): another process may take the work over, and then the sleeper wakes up.
 */
const LONGER_THAN_A_LEASE_MS = 11_000

/** Suspends a process without its knowledge, as a machine does that swaps, or a virtual machine that is migrated. */
export const suspend: Harm = {
  name: 'SIGSTOP and SIGCONT',
  share: 4,
  kills: 0,
  isSlow: true,
  async run(ground, chance) {
    const part = chance.pick([...parts, 'supervisor', 'php'] as const)
    const found = part === 'php' ? ground.stead.phpProcesses()[0] : ground.stead.role(part)
    if (!found) return
    signal(found.pid, 'SIGSTOP')
    try {
      await pause(LONGER_THAN_A_LEASE_MS)
    } finally {
      signal(found.pid, 'SIGCONT')
    }
  },
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // killed meanwhile
  }
}
