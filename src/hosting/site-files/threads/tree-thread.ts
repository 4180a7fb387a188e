/** The thread of `walk.ts`, which makes the system calls of a walk. */

import { TreeWalk, type TreeWalkOptions, type WalkedEntry } from '../tree-walk.ts'
import type { Batch } from '../walk.ts'
import { serveWork } from './thread-program.ts'

const BATCH = 512

interface Work {
  readonly root: string
  readonly options: TreeWalkOptions
}

serveWork<Work, Batch>(({ root, options }) => {
  const walk = new TreeWalk(root, options)
  return () => {
    const entries: WalkedEntry[] = []
    let isEnd = false
    while (!isEnd && entries.length < BATCH && walk.leftOut.length < BATCH) {
      const entry = walk.next()
      if (entry) entries.push(entry)
      else isEnd = true
    }
    return { entries, leftOut: walk.leftOut.splice(0), isEnd }
  }
})
