import { extname, join } from 'node:path'
import { restThread, takeThread } from '../../../platform/threads/resting-threads.ts'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { TooManyFiles } from '../tree-walk.ts'

/** A thread that does a piece of its work each time that it is asked. */
export interface Thread<Answer> {
  /** One question at a time. @throws what the thread threw, and the reason of the signal */
  ask(): Promise<Answer>
  /** Gives back all that it has open. */
  end(): Promise<void>
}

/** What a program of this folder answers: `serveWork` in `thread-program.ts`. */
export interface Piece {
  /** Nothing is left to do, and nothing is open. */
  readonly isEnd: boolean
}

/**
 * Hands work to a program of this folder, apart from the event loop that serves requests.
 * @param name of a file without its ending; it calls `serveWork`
 * @param work what it is to do: plain values
 */
export function startThread<Answer extends Piece>(name: string, work: object, signal?: AbortSignal): Thread<Answer> {
  signal?.throwIfAborted()
  // `.ts` where Stead runs from its sources, `.js` where it was built
  const program = join(import.meta.dirname, `${name}${extname(import.meta.filename)}`)
  const worker = takeThread(program, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
  let answer = Promise.withResolvers<Answer>()
  let isBegun = false
  let isDone = false
  const fail = (error: unknown) => {
    isDone = false
    answer.reject(error)
  }
  const onAbort = () => fail(signal?.reason)
  const onError = (error: unknown) => fail(named(error as Error))
  const onExit = () => fail(new Error('A thread ended'))
  const onMessage = (piece: Answer) => {
    isDone = piece.isEnd
    answer.resolve(piece)
  }
  worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    ask() {
      answer = Promise.withResolvers()
      // it may fail while nobody waits for it yet
      answer.promise.catch(() => {})
      worker.postMessage(isBegun ? {} : { work })
      isBegun = true
      return answer.promise
    },
    async end() {
      signal?.removeEventListener('abort', onAbort)
      // one that was stopped on its way has folders open, and only its end closes them
      if (!isDone) return void (await worker.terminate())
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      await restThread(program, worker)
    },
  }
}

const known = { TooManyFiles, DiskFull }

/** An error that came from a thread has lost its class. */
function named(error: Error): Error {
  const Named = known[error.name as keyof typeof known]
  return Named ? new Named(error.message, { cause: error }) : error
}
