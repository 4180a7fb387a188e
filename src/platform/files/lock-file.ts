import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'

const RETRY_MS = 100
const SQLITE_BUSY = 5

/** Lets go of a lock. */
export type Unlock = () => void

/**
 * Takes a lock that one process at a time can hold. It is SQLite's own lock of a file: the system lets go of it when its
 * holder dies, so that none is ever stale.
 * @param patienceMs how long to wait for another holder to end
 * @returns `undefined` when another process holds it still
 * @throws OperatorError when the file is something else, or may not be written
 */
export async function lockFile(file: string, patienceMs = 0): Promise<Unlock | undefined> {
  const giveUpAt = performance.now() + patienceMs
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    // waiting inside SQLite would stop the whole process
    lock.exec('pragma busy_timeout = 0')
    while (!acquire(lock)) {
      if (performance.now() >= giveUpAt) {
        lock.close()
        return undefined
      }
      await pause(RETRY_MS)
    }
    const held = lock
    return () => held.close()
  } catch (error) {
    if (lock?.isOpen) lock.close()
    const reason = (error as Error).message
    throw new OperatorError(
      `The lock ${file} cannot be taken: ${reason}. Stead's user must own it; a damaged one can be removed.`,
      {
        cause: error,
      },
    )
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
