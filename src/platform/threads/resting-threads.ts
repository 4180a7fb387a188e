import { Worker, type WorkerOptions } from 'node:worker_threads'
import { declareMemory } from '../process-memory.ts'

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

/** @returns a thread that runs this program and has nothing to do: one that rests, or a new one */
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
 * @param worker one that has done its work, has nothing open, and that nobody listens to
 */
export async function restThread(program: string, worker: Worker): Promise<void> {
  if (resting.has(program)) return void (await worker.terminate())
  const forget = () => {
    if (resting.get(program)?.worker === worker) resting.delete(program)
  }
  worker.on('error', forget).on('exit', forget)
  // a process with nothing else to do waits for none
  worker.unref()
  const ending = setTimeout(() => {
    forget()
    void worker.terminate()
  }, IDLE_MS).unref()
  resting.set(program, { worker, ending, forget })
}
