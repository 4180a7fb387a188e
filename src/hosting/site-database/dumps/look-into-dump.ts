import { extname, join } from 'node:path'
import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import { DumpUnreadable } from '../database-content.ts'
import type { DumpFacts } from '../sql/dump-facts.ts'

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `look-thread${extname(import.meta.filename)}`)
const MOST_MB = 512

export interface LookOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes of the dump that have been read. */
  readonly onRead?: ((doneBytes: number) => void) | undefined
}

/**
 * Reads a dump to its end to find out about its site, in a thread, so that visitors do not wait.
 * @throws DumpUnreadable, with the fault and the remedy; the signal's reason
 */
export async function lookIntoDump(
  input: AsyncIterable<Uint8Array>,
  { signal, onRead }: LookOptions = {},
): Promise<DumpFacts> {
  signal?.throwIfAborted()
  const thread = new OrderedThread<'look'>({ program, mostMb: MOST_MB, errors: [DumpUnreadable] })
  const stop = () => thread.end(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const facts = await thread.do<DumpFacts>('look', { input, ...(onRead && { onRead }) })
    await thread.rest()
    return facts
  } finally {
    signal?.removeEventListener('abort', stop)
    thread.end()
  }
}
