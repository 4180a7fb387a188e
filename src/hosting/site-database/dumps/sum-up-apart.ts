import { extname, join } from 'node:path'
import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import { UnreadableSql } from '../sql/sql-tokens.ts'
import type { DumpSummary, Summing } from './compare-dumps.ts'

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `summary-thread${extname(import.meta.filename)}`)
const MOST_MB = 512

/**
 * Summarizes dumps in a thread: a value may have 64 MB, and everything else would wait while it is unescaped and
 * hashed.
 */
export function sumUpApart(): Summing {
  let summary: DumpSummary | undefined
  return {
    async *through(dump) {
      const thread = new OrderedThread<'sum'>({ program, mostMb: MOST_MB, errors: [UnreadableSql] })
      // The input of the thread passes through the loader, so neither runs ahead of the other.
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
