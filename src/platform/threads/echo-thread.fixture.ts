/** A thread of tests: it says what it was told, and how often it was told something. */
import { serveOrders } from './serve-orders.ts'

let told = 0

serveOrders<{ readonly say: string; readonly times?: number }>(async ({ say, times = 0 }, { give }) => {
  told++
  for (let i = 0; i < times; i++) await give(Buffer.from(say))
  return { say, told }
})
