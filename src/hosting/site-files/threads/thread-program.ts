/** What the programs of `thread.ts` have in common: they do one work after another, piece by piece. */
import { parentPort } from 'node:worker_threads'
import type { Piece } from './thread.ts'

/** @param begin opens a work; what it returns does one piece of it */
export function serveWork<Work, Answer extends Piece>(begin: (work: Work) => () => Answer): void {
  let nextPiece: () => Answer
  parentPort?.on('message', ({ work }: { work?: Work }) => {
    if (work !== undefined) nextPiece = begin(work)
    parentPort?.postMessage(nextPiece())
  })
}
