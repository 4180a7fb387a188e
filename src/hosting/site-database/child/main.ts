/**
 * A separate process that works on the bytes of a site's database. Whatever they contain, it can reach nothing else.
 */
import { writeSync } from 'node:fs'
import { dumpDatabase } from './dump.ts'
import { loadDatabase } from './load.ts'
import { recoverDatabase } from './open.ts'
import type { ChildOrder } from './orders.ts'

const order = JSON.parse(process.argv[2] as string) as ChildOrder
if (order.uid !== null) {
  process.setgroups?.([])
  process.setgid?.(order.uid)
  process.setuid?.(order.uid)
}
try {
  if (order.kind === 'dump') dumpDatabase(order)
  else if (order.kind === 'load') await loadDatabase(order)
  else recoverDatabase(order)
} catch (error) {
  const { message, errcode, code } = error as Error & { errcode?: number; code?: string }
  // The first line is for the parent.
  writeSync(2, `${JSON.stringify({ message, errcode, code })}\n`)
  throw error
}
