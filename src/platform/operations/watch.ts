import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { getOperation, type OperationView } from './read.ts'

/** Not every change is announced (a notice is a lock on PostgreSQL): somebody who watches looks by himself, too. */
const LOOK_EVERY_MS = 250
/** At most so often, however busy the database is. */
const LEAST_PAUSE_MS = 50

/**
 * Follows an operation: yields it as it is, then after each change, and ends with its end.
 * @param signal ends it early, as when the client has gone
 */
export async function* watchOperation(
  database: Database,
  id: number,
  signal?: AbortSignal,
): AsyncGenerator<OperationView, void, void> {
  let last = ''
  while (!signal?.aborted) {
    const changed = new AbortController()
    const end = database.changes.subscribe('operations', () => changed.abort())
    try {
      const operation = await getOperation(database.read, id)
      if (!operation) return
      const seen = JSON.stringify(operation)
      if (seen !== last) yield operation
      last = seen
      if (operation.finishedAt !== null) return
      await pause(LEAST_PAUSE_MS, undefined, { signal })
      if (!changed.signal.aborted) await oneOf(changed.signal, signal)
    } catch (error) {
      if (signal?.aborted) return
      throw error
    } finally {
      end()
    }
  }
}

async function oneOf(changed: AbortSignal, signal?: AbortSignal): Promise<void> {
  const either = signal ? AbortSignal.any([changed, signal]) : changed
  await pause(LOOK_EVERY_MS, undefined, { signal: either }).catch(() => {})
}
