import { lstat } from 'node:fs/promises'
import type { LeftOut } from './file-content.ts'
import { startThread } from './threads/thread.ts'
import type { TreeWalkOptions, WalkedEntry } from './tree-walk.ts'

/** An answer of the thread. */
export interface Batch {
  readonly entries: readonly WalkedEntry[]
  readonly leftOut: readonly LeftOut[]
  readonly isEnd: boolean
}

export interface WalkTreeOptions extends TreeWalkOptions {
  readonly signal?: AbortSignal | undefined
  readonly onLeftOut?: ((thing: LeftOut) => void) | undefined
}

/**
 * Walks a web root in a thread, one batch ahead of the consumer.
 * @throws TooManyFiles, or an error when the web root is missing
 */
export async function* walkTree(root: string, options: WalkTreeOptions): AsyncGenerator<WalkedEntry, void, undefined> {
  const { scope, granularityMs, signal, onLeftOut } = options
  if (!(await lstat(root)).isDirectory()) throw new Error('The site has no web root')
  const thread = startThread<Batch>('tree-thread', { root, options: { scope, granularityMs } }, signal)
  try {
    let asked = thread.ask()
    for (;;) {
      const batch = await asked
      if (!batch.isEnd) asked = thread.ask()
      if (onLeftOut) batch.leftOut.forEach(onLeftOut)
      yield* batch.entries
      signal?.throwIfAborted()
      if (batch.isEnd) return
    }
  } finally {
    await thread.end()
  }
}
