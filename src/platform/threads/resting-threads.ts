import { Worker, type WorkerOptions } from 'node:worker_threads'
import { declareMemory } from '../process-memory.ts'

/** How long an idle thread waits for more work. To start one takes 50 to 140 ms of processor time. */
const IDLE_MS = 10_000

interface Resting {
  readonly worker: Worker
  readonly ending: NodeJS.Timeout
  forget(): void
}
/** At most one thread per program. */
const resting = new Map<string, Resting>()
declareMemory(async () => {
  const workers = [...resting.values()].map(({ worker }) => worker)
  resting.clear()
  for (const worker of workers) await worker.terminate()
})

/** @returns a thread that runs this program and is idle: a resting one, or a new one */
export function takeThread(program: string, options?: WorkerOptions): Worker {
  const found = resting.get(program)
  if (!found) return new Worker(program, options)
  resting.delete(program)
  clearTimeout(found.ending)
  found.worker.off('error', found.forget).off('exit', found.forget)
  found.worker.ref()
  return found.worker
}

/**
 * Keeps a thread for the next work of its program, unless another one rests already.
 * @param worker an idle one with nothing open and no listeners
 */
export async function restThread(program: string, worker: Worker): Promise<void> {
  if (resting.has(program)) return void (await worker.terminate())
  const forget = () => {
    if (resting.get(program)?.worker === worker) resting.delete(program)
  }
  worker.on('error', forget).on('exit', forget)
  // A process with nothing else to do must not wait for a resting thread.
  worker.unref()
  const ending = setTimeout(() => {
    forget()
    void worker.terminate()
  }, IDLE_MS).unref()
  resting.set(program, { worker, ending, forget })
}
