import { extname, join } from 'node:path'
import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import { DumpUnreadable } from '../database-content.ts'
import type { DumpFacts, TableRows } from '../sql/dump-facts.ts'

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `look-thread${extname(import.meta.filename)}`)
const MOST_MB = 512

export interface LookOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes of the dump that have been read. */
  readonly onRead?: ((doneBytes: number) => void) | undefined
}

/** `look` for what a dump of any program has, `count` for the rows of one of Stead. */
export type LookOrder = 'look' | 'count'

/**
 * Reads a dump to its end to find out about its site, in a thread, so that visitors do not wait.
 * @throws DumpUnreadable, with the fault and the remedy; the signal's reason
 */
export const lookIntoDump = (input: AsyncIterable<Uint8Array>, options?: LookOptions): Promise<DumpFacts> =>
  readApart('look', input, options)

/**
 * Counts the rows of the tables in a dump of Stead in the same way.
 * @throws DumpUnreadable; the signal's reason
 */
export const countRowsOfDump = (input: AsyncIterable<Uint8Array>, options?: LookOptions): Promise<TableRows[]> =>
  readApart('count', input, options)

async function readApart<Result>(
  order: LookOrder,
  input: AsyncIterable<Uint8Array>,
  { signal, onRead }: LookOptions = {},
): Promise<Result> {
  signal?.throwIfAborted()
  const thread = new OrderedThread<LookOrder>({ program, mostMb: MOST_MB, errors: [DumpUnreadable] })
  const stop = () => thread.end(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const result = await thread.do<Result>(order, { input, ...(onRead && { onRead }) })
    await thread.rest()
    return result
  } finally {
    signal?.removeEventListener('abort', stop)
    thread.end()
  }
}
