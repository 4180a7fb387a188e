/** The thread of `copy-apart.ts`, which makes the system calls of a copy. */
import { CopyTree, type CopyTreeOptions } from './copy-tree.ts'
import { serveWork } from './thread-program.ts'

/** An answer of the thread. */
export interface CopyProgress {
  readonly doneBytes: number
  readonly isEnd: boolean
}

const PIECE_MS = 100

serveWork<CopyTreeOptions, CopyProgress>((options) => {
  const copy = new CopyTree(options)
  return () => {
    const begun = performance.now()
    let isEnd = false
    while (!isEnd && performance.now() - begun < PIECE_MS) isEnd = !copy.next()
    return { doneBytes: copy.doneBytes, isEnd }
  }
})
