import { extname, join } from 'node:path'
import { restThread, takeThread } from '../../../platform/threads/resting-threads.ts'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { TooManyFiles } from '../tree-walk.ts'

/** A thread that does one piece of its work per request. */
export interface Thread<Answer> {
  /**
   * Requests the next piece. Allows one request at a time.
   * @throws the thread's error, or the reason of the signal
   */
  ask(): Promise<Answer>
  /** Releases everything that it has open. */
  end(): Promise<void>
}

/** The answer of a program in this folder: see `serveWork` in `thread-program.ts`. */
export interface ThreadPiece {
  /** Whether nothing is left to do, and nothing is open. */
  readonly isEnd: boolean
}

/**
 * Passes work to a program in this folder, apart from the event loop that serves requests.
 * @param name the name of a file without its extension, which calls `serveWork`
 * @param work its input as plain values
 */
export function startThread<Answer extends ThreadPiece>(
  name: string,
  work: object,
  signal?: AbortSignal,
): Thread<Answer> {
  signal?.throwIfAborted()
  // `.ts` when Stead runs from its sources, `.js` when it was built.
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
      // It may fail before a caller waits for it.
      answer.promise.catch(() => {})
      worker.postMessage(isBegun ? {} : { work })
      isBegun = true
      return answer.promise
    },
    async end() {
      signal?.removeEventListener('abort', onAbort)
      // A thread that was stopped midway has folders open, and only its end closes them.
      if (!isDone) return void (await worker.terminate())
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      await restThread(program, worker)
    },
  }
}

const known = { TooManyFiles, DiskFull }

/** Restores the class of an error, which a thread loses. */
function named(error: Error): Error {
  const Named = known[error.name as keyof typeof known]
  return Named ? new Named(error.message, { cause: error }) : error
}
