/** A thread of tests. It repeats its order, with the number of orders so far. */
import { serveOrders } from './serve-orders.ts'

let told = 0

serveOrders<{ readonly say: string; readonly times?: number }>(async ({ say, times = 0 }, { give }) => {
  told++
  for (let i = 0; i < times; i++) await give(Buffer.from(say))
  return { say, told }
})
