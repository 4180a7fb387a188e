/** A thread of `import-dump.ts`. */
import { serveOrders } from '../../../platform/threads/serve-orders.ts'
import { DumpUnreadable } from '../database-content.ts'
import { LookIntoDump } from '../sql/look-into-dump.ts'
import { DumpReader } from '../sql/read-dump.ts'
import { readableDump } from '../sql/readable-dump.ts'
import { UnreadableSql } from '../sql/tokens.ts'

serveOrders(async (_order: 'look', { input }) => {
  const look = new LookIntoDump()
  const reader = new DumpReader({ isForeign: true })
  try {
    for await (const piece of readableDump(input)) for (const event of reader.write(piece)) look.take(event)
    for (const event of reader.finish()) look.take(event)
    return look.found
  } catch (error) {
    if (!(error instanceof UnreadableSql)) throw error
    throw new DumpUnreadable(`The dump cannot be loaded: ${error.full}`)
  }
})
