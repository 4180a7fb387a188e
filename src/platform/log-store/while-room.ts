import type { FreeRoom } from '../files/free-room.ts'
import type { LogStore } from './log-store.ts'

/** The store, which takes no more entries while the disk is nearly full: they wait with who has them, within his bounds. */
export function whileRoom(store: LogStore, room: FreeRoom): LogStore {
  return {
    ...store,
    async append(kind, records) {
      if (records.length > 0) room.forRecords()
      await store.append(kind, records)
    },
  }
}
