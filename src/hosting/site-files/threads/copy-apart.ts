import type { CopyProgress } from './copy-thread.ts'
import type { CopyTreeOptions } from './copy-tree.ts'
import { startThread } from './thread.ts'

export interface CopyingOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (doneBytes: number) => void
}

/**
 * Copies a web root in a thread.
 * @throws DiskFull, TooManyFiles
 */
export async function copyApart(options: CopyTreeOptions, { signal, onProgress }: CopyingOptions): Promise<void> {
  const thread = startThread<CopyProgress>('copy-thread', options, signal)
  try {
    for (;;) {
      const { doneBytes, isEnd } = await thread.ask()
      onProgress?.(doneBytes)
      if (isEnd) return
    }
  } finally {
    await thread.end()
  }
}
