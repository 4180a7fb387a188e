/** A thread of `sum-up-apart.ts`. */
import { serveOrders } from '../../../platform/threads/serve-orders.ts'
import { sumUp } from './compare-dumps.ts'

serveOrders(async (_order: 'sum', { input }) => {
  const summing = sumUp()
  for await (const _piece of summing.through(input));
  return summing.summary()
})
