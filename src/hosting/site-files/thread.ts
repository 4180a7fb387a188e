import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { DiskFull } from '../homes/disk-room.ts'
import { TooManyFiles } from './tree-walk.ts'

/** A thread that does a piece of its work each time that it is asked. */
export interface Thread<Answer> {
  /** One question at a time. @throws what the thread threw, and the reason of the signal */
  ask(): Promise<Answer>
  /** Gives back all that it has open. */
  end(): Promise<void>
}

/**
 * Starts a program of this folder apart from the event loop that serves requests.
 * @param name of a file without its ending; it calls `answer`
 * @param data what it is to do: plain values
 */
export function startThread<Answer>(name: string, data: object, signal?: AbortSignal): Thread<Answer> {
  signal?.throwIfAborted()
  // `.ts` where Stead runs from its sources, `.js` where it was built
  const program = join(import.meta.dirname, `${name}${extname(import.meta.filename)}`)
  const thread = new Worker(program, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: 256 } })
  let answer = Promise.withResolvers<Answer>()
  const fail = (error: unknown) => answer.reject(error)
  const onAbort = () => fail(signal?.reason)
  thread.on('message', (message: Answer) => answer.resolve(message))
  thread.on('error', (error) => fail(named(error as Error)))
  thread.on('exit', () => fail(new Error('A thread ended')))
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    ask() {
      answer = Promise.withResolvers()
      // it may fail while nobody waits for it yet
      answer.promise.catch(() => {})
      thread.postMessage('next')
      return answer.promise
    },
    async end() {
      signal?.removeEventListener('abort', onAbort)
      await thread.terminate()
    },
  }
}

const known = { TooManyFiles, DiskFull }

/** An error that came from a thread has lost its class. */
function named(error: Error): Error {
  const Named = known[error.name as keyof typeof known]
  return Named ? new Named(error.message, { cause: error }) : error
}
