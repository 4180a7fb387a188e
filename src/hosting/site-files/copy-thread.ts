/** The thread of `copy-apart.ts`: the system calls of a copy. */
import { parentPort, workerData } from 'node:worker_threads'
import { CopyTree, type CopyTreeOptions } from './copy-tree.ts'

/** What the thread answers. */
export interface Copied {
  readonly doneBytes: number
  readonly isEnd: boolean
}

const PIECE_MS = 100

const copy = new CopyTree(workerData as CopyTreeOptions)

parentPort?.on('message', () => {
  const begun = performance.now()
  let isEnd = false
  while (!isEnd && performance.now() - begun < PIECE_MS) isEnd = !copy.next()
  parentPort?.postMessage({ doneBytes: copy.doneBytes, isEnd } satisfies Copied)
})
