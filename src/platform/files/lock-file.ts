import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'

const RETRY_MS = 100
const SQLITE_BUSY = 5

/** Lets go of a lock. */
export type Unlock = () => void

export interface LockOptions {
  /** How long to wait for another holder to end. Default: not at all. */
  readonly patienceMs?: number
  /** Together with others that share it. Default: alone. */
  readonly shared?: boolean
}

/**
 * Takes a lock that one process at a time can hold alone, or several together. It is SQLite's own lock of a file: the system
 * lets go of it when its holder dies, so that none is ever stale.
 * @returns `undefined` when another process holds it still
 * @throws OperatorError when the file is something else, or may not be written
 */
export async function lockFile(file: string, options: LockOptions = {}): Promise<Unlock | undefined> {
  const { patienceMs = 0, shared = false } = options
  const giveUpAt = performance.now() + patienceMs
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    // waiting inside SQLite would stop the whole process
    lock.exec('pragma busy_timeout = 0')
    while (!acquire(lock, shared)) {
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
      `Stead cannot lock ${file}: ${reason}. The user of Stead must own the file. You can remove a damaged lock file.`,
      {
        cause: error,
      },
    )
  }
}

function acquire(lock: DatabaseSync, shared: boolean): boolean {
  try {
    // a transaction that has read keeps who wants to be alone out
    lock.exec(shared ? 'begin; select count(*) from sqlite_schema' : 'begin exclusive')
    return true
  } catch (error) {
    if (lock.isTransaction) lock.exec('rollback')
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return false
    throw error
  }
}
