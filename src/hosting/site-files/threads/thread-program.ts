/** The common part of the programs of `thread.ts`, which do one job after another, piece by piece. */
import { parentPort } from 'node:worker_threads'
import type { ThreadPiece } from './thread.ts'

/** @param begin opens a job and returns a function that does one piece of it */
export function serveWork<Work, Answer extends ThreadPiece>(begin: (work: Work) => () => Answer): void {
  let nextPiece: () => Answer
  parentPort?.on('message', ({ work }: { work?: Work }) => {
    if (work !== undefined) nextPiece = begin(work)
    parentPort?.postMessage(nextPiece())
  })
}
