import { parentPort } from 'node:worker_threads'
import { comeAfterVisitors } from '../come-after-visitors.ts'
import { copyToMove, type FromThread, type ToThread } from './messages.ts'

/** The input and output of an order. */
export interface OrderStreams {
  /** Can be read once. */
  readonly input: AsyncIterable<Uint8Array>
  /** Resolves when the piece was taken. */
  give(piece: Uint8Array): Promise<void>
}

/**
 * Turns a module into a program of `ordered-thread.ts`. It executes one order after another, at a lower priority than
 * visitors.
 */
export function serveOrders<Order>(perform: (order: Order, exchange: OrderStreams) => Promise<unknown>): void {
  comeAfterVisitors()
  let heard = Promise.withResolvers<Uint8Array | undefined>()
  const say = (words: FromThread, moved: ArrayBuffer[] = []) => {
    heard = Promise.withResolvers()
    parentPort?.postMessage(words, moved)
    return heard.promise
  }
  const exchange: OrderStreams = {
    input: {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const piece = await say({ wants: true })
          if (piece === undefined) return
          yield piece
        }
      },
    },
    async give(piece) {
      const copy = copyToMove(piece)
      await say({ gives: copy }, [copy.buffer])
    },
  }
  const carryOut = async (order: Order) => {
    try {
      void say({ done: await perform(order, exchange) })
    } catch (error) {
      const { name, message, code } = error as NodeJS.ErrnoException
      void say({ failed: { name, message, ...(code !== undefined && { code }) } })
    }
  }
  parentPort?.on('message', (words: ToThread<Order>) => {
    if ('order' in words) void carryOut(words.order)
    else heard.resolve('piece' in words ? words.piece : undefined)
  })
}
