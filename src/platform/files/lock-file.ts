import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

const RETRY_MS = 100
const SQLITE_BUSY = 5

/** Lets go of a lock. */
export type Unlock = () => void

/**
 * Takes a lock that one process at a time can hold. It is SQLite's own lock of a file: the system lets go of it when its
 * holder dies, so that none is ever stale.
 * @param patienceMs how long to wait for another holder to end
 * @returns `undefined` when another process holds it still
 */
export async function lockFile(file: string, patienceMs = 0): Promise<Unlock | undefined> {
  const giveUpAt = performance.now() + patienceMs
  const lock = new DatabaseSync(file)
  try {
    // waiting inside SQLite would stop the whole process
    lock.exec('pragma busy_timeout = 0')
    while (!acquire(lock)) {
      if (performance.now() >= giveUpAt) {
        lock.close()
        return undefined
      }
      await pause(RETRY_MS)
    }
    return () => lock.close()
  } catch (error) {
    if (lock.isOpen) lock.close()
    throw error
  }
}

function acquire(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive')
    return true
  } catch (error) {
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return false
    throw error
  }
}
