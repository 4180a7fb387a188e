/** A thread that counts down, for the tests of `thread.ts`. */
import { threadId } from 'node:worker_threads'
import { serveWork } from './thread-program.ts'

export interface Counted {
  readonly threadId: number
  readonly isEnd: boolean
}

serveWork<{ pieces: number }, Counted>(({ pieces }) => {
  let left = pieces
  return () => {
    if (left === 0) throw new RangeError('Nothing is left to count')
    return { threadId, isEnd: --left === 0 }
  }
})
