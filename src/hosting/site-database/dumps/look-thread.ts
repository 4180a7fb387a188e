/** A thread of `look-into-dump.ts`. */
import { setImmediate as breathe } from 'node:timers/promises'
import { serveOrders } from '../../../platform/threads/serve-orders.ts'
import { DumpUnreadable } from '../database-content.ts'
import { LookIntoDump } from '../sql/dump-facts.ts'
import { DumpReader } from '../sql/read-dump.ts'
import { readableDump } from '../sql/readable-dump.ts'
import { UnreadableSql } from '../sql/sql-tokens.ts'
import type { LookOrder } from './look-into-dump.ts'

const SLICE_BYTES = 64 << 10

serveOrders(async (order: LookOrder, { input }) => {
  const look = new LookIntoDump()
  const reader = new DumpReader({ isForeign: order === 'look' })
  try {
    for await (const piece of readableDump(input))
      for (let at = 0; at < piece.length; at += SLICE_BYTES) {
        if (at > 0) await breathe()
        for (const event of reader.write(piece.subarray(at, at + SLICE_BYTES))) look.take(event)
      }
    for (const event of reader.finish()) look.take(event)
    return order === 'look' ? look.facts : look.rowsByTable
  } catch (error) {
    throw error instanceof UnreadableSql ? new DumpUnreadable(error.full) : error
  }
})
