import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../operator-error.ts'

const RETRY_MS = 100
const SQLITE_BUSY = 5
const SQLITE_FULL = 13

/** Releases a lock. */
export type Unlock = () => void

export interface LockOptions {
  /** How long to wait for another holder to end. By default, it does not wait. */
  readonly patienceMs?: number
  /** Whether to share the lock with others. Exclusive by default. */
  readonly shared?: boolean
}

/**
 * Takes a lock that either one process can hold exclusively, or several can share. It is SQLite's own lock of a file.
 * The system releases it when its holder dies, so that no lock is ever stale.
 * @returns `undefined` if another process still holds it
 * @throws OperatorError when the file has other content, or is not writable
 */
export async function lockFile(file: string, options: LockOptions = {}): Promise<Unlock | undefined> {
  const { patienceMs = 0, shared = false } = options
  const giveUpAt = performance.now() + patienceMs
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    // A wait inside SQLite would block the whole process.
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
    if (codeOf(error) === SQLITE_FULL)
      throw new OperatorError(`Stead cannot lock ${file}: the disk is full. Free space on it.`, { cause: error })
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
    // A transaction that has read keeps exclusive holders out.
    lock.exec(shared ? 'begin; select count(*) from sqlite_schema' : 'begin exclusive')
    return true
  } catch (error) {
    if (lock.isTransaction) lock.exec('rollback')
    if (codeOf(error) === SQLITE_BUSY) return false
    throw error
  }
}

/** Returns the primary result code of SQLite. */
const codeOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) % 256
