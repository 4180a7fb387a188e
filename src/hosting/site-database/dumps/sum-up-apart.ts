import { extname, join } from 'node:path'
import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import { UnreadableSql } from '../sql/tokens.ts'
import type { DumpSummary, Summing } from './compare-dumps.ts'

/** `.ts` where Stead runs from its sources, `.js` where it was built. */
const program = join(import.meta.dirname, `summary-thread${extname(import.meta.filename)}`)
const MOST_MB = 512

/** Sums dumps up in a thread: a value may have 64 MB, and nothing else would go on while it is unescaped and hashed. */
export function sumUpApart(): Summing {
  let summary: DumpSummary | undefined
  return {
    async *through(dump) {
      const thread = new OrderedThread<'sum'>({ program, mostMb: MOST_MB, errors: [UnreadableSql] })
      // what the thread reads goes by way of whoever loads it: neither is ahead of the other
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      writer.closed.catch(() => {})
      const summing = thread.do<DumpSummary>('sum', { input: readable })
      summing.catch((error) => writer.abort(error).catch(() => {}))
      try {
        for await (const piece of dump) {
          await writer.ready
          writer.write(piece).catch(() => {})
          yield piece
        }
        await writer.close()
        summary = await summing
        await thread.rest()
      } finally {
        thread.end()
      }
    },
    summary() {
      if (!summary) throw new Error('A dump is summed up when all of it has passed')
      return summary
    },
  }
}
