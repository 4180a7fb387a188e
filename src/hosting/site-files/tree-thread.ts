/** The thread of `walk.ts`: the system calls of a walk. */
import { parentPort, workerData } from 'node:worker_threads'
import { TreeWalk, type TreeWalkOptions, type WalkedEntry } from './tree-walk.ts'
import type { Batch } from './walk.ts'

const BATCH = 512

const { root, options } = workerData as { root: string; options: TreeWalkOptions }
const walk = new TreeWalk(root, options)

parentPort?.on('message', () => {
  const entries: WalkedEntry[] = []
  let isEnd = false
  while (!isEnd && entries.length < BATCH && walk.leftOut.length < BATCH) {
    const entry = walk.next()
    if (entry) entries.push(entry)
    else isEnd = true
  }
  parentPort?.postMessage({ entries, leftOut: walk.leftOut.splice(0), isEnd } satisfies Batch)
})
