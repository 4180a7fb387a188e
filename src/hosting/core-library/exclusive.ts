import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 100

/**
 * Runs `work` while no other process or caller runs with the same lock file. The lock is SQLite's own file lock. The
 * system releases it when its holder dies, so it needs no cleanup and no age limit.
 */
export async function exclusively<Result>(
  lockFile: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = new DatabaseSync(lockFile)
  try {
    // Waiting inside SQLite would block the whole process.
    lock.exec('PRAGMA busy_timeout = 0')
    while (!acquire(lock)) await sleep(retryMs, undefined, { signal })
    return await work()
  } finally {
    lock.close()
  }
}

function acquire(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    const sqliteBusy = 5
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === sqliteBusy) return false
    throw error
  }
}
