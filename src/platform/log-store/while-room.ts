import type { FreeRoom } from '../files/free-room.ts'
import type { LogStore } from './log-store.ts'

/**
 * Wraps a store so that it accepts no entries while the disk is nearly full. Callers keep them, within their own
 * limits.
 */
export function whileRoom(store: LogStore, room: FreeRoom): LogStore {
  return {
    ...store,
    async append(kind, records) {
      if (records.length > 0) room.forRecords()
      await store.append(kind, records)
    },
  }
}
