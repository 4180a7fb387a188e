import { createReadStream } from 'node:fs'
import { extname, join } from 'node:path'
import { OrderedThread } from '../../platform/threads/ordered-thread.ts'
import { DumpUnreadable } from '../site-database/database-content.ts'
import type { DumpFacts } from './dump-facts.ts'

/** `.ts` where Stead runs from its sources, `.js` where it was built. */
const program = join(import.meta.dirname, `dump-facts-thread${extname(import.meta.filename)}`)
const MOST_MB = 512

interface LookOptions {
  readonly signal: AbortSignal
  readonly onRead?: (doneBytes: number) => void
}

/** Looks through a dump in a thread: visitors do not wait for it. @throws DumpUnreadable */
export async function lookAtDumpApart(path: string, { signal, onRead }: LookOptions): Promise<DumpFacts> {
  const thread = new OrderedThread<'look'>({ program, mostMb: MOST_MB, errors: [DumpUnreadable] })
  const input = createReadStream(path, { highWaterMark: 1 << 18, signal })
  try {
    const facts = await thread.do<DumpFacts>('look', { input, ...(onRead && { onRead }) })
    await thread.rest()
    return facts
  } finally {
    thread.end()
    input.destroy()
  }
}
