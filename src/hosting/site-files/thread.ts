import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { declareMemory } from '../../platform/process-memory.ts'
import { DiskFull } from '../homes/disk-room.ts'
import { TooManyFiles } from './tree-walk.ts'

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

/** How long a thread that has done its work waits for more: to start one takes 50 to 140 ms of processor time. */
const IDLE_MS = 10_000

interface Resting {
  readonly worker: Worker
  readonly ending: NodeJS.Timeout
  forget(): void
}
/** At most one for each program. */
const resting = new Map<string, Resting>()
declareMemory(async () => {
  const workers = [...resting.values()].map(({ worker }) => worker)
  resting.clear()
  for (const worker of workers) await worker.terminate()
})

function takeWorker(name: string): Worker {
  const found = resting.get(name)
  if (!found) {
    // `.ts` where Stead runs from its sources, `.js` where it was built
    const program = join(import.meta.dirname, `${name}${extname(import.meta.filename)}`)
    return new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
  }
  resting.delete(name)
  clearTimeout(found.ending)
  found.worker.off('error', found.forget).off('exit', found.forget)
  found.worker.ref()
  return found.worker
}

/** Keeps the thread for the next work of its kind, unless another one waits already. */
async function rest(name: string, worker: Worker): Promise<void> {
  if (resting.has(name)) return void (await worker.terminate())
  const forget = () => {
    if (resting.get(name)?.worker === worker) resting.delete(name)
  }
  worker.on('error', forget).on('exit', forget)
  // a process with nothing else to do waits for none
  worker.unref()
  const ending = setTimeout(() => {
    forget()
    void worker.terminate()
  }, IDLE_MS).unref()
  resting.set(name, { worker, ending, forget })
}

/**
 * Hands work to a program of this folder, apart from the event loop that serves requests.
 * @param name of a file without its ending; it calls `serveWork`
 * @param work what it is to do: plain values
 */
export function startThread<Answer extends Piece>(name: string, work: object, signal?: AbortSignal): Thread<Answer> {
  signal?.throwIfAborted()
  const worker = takeWorker(name)
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
      await rest(name, worker)
    },
  }
}

const known = { TooManyFiles, DiskFull }

/** An error that came from a thread has lost its class. */
function named(error: Error): Error {
  const Named = known[error.name as keyof typeof known]
  return Named ? new Named(error.message, { cause: error }) : error
}
