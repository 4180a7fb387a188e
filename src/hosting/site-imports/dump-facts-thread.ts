/** A thread of `look-apart.ts`. */
import { serveOrders } from '../../platform/threads/serve-orders.ts'
import { DumpUnreadable } from '../site-database/database-content.ts'
import { UnreadableSql } from '../site-database/sql/tokens.ts'
import { lookAtDump } from './dump-facts.ts'

serveOrders(async (_order: 'look', { input }) => {
  try {
    return await lookAtDump(input)
  } catch (error) {
    throw error instanceof UnreadableSql ? new DumpUnreadable(error.full) : error
  }
})
