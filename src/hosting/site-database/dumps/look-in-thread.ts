import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import { DumpUnreadable } from '../database-content.ts'

const MOST_MB = 512

export interface LookOptions {
  readonly signal?: AbortSignal | undefined
  /** Bytes of the dump that have been read. */
  readonly onRead?: ((doneBytes: number) => void) | undefined
}

/**
 * Reads a dump to its end in a thread: visitors do not wait for it.
 * @param program of the thread, which answers the order `look`
 * @throws DumpUnreadable; the signal's reason
 */
export async function lookInThread<Found>(
  program: string,
  input: AsyncIterable<Uint8Array>,
  { signal, onRead }: LookOptions = {},
): Promise<Found> {
  signal?.throwIfAborted()
  const thread = new OrderedThread<'look'>({ program, mostMb: MOST_MB, errors: [DumpUnreadable] })
  const stop = () => thread.end(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const found = await thread.do<Found>('look', { input, ...(onRead && { onRead }) })
    await thread.rest()
    return found
  } finally {
    signal?.removeEventListener('abort', stop)
    thread.end()
  }
}
