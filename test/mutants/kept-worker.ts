import { ForksPoolWorker, type PoolRunnerInitializer, type PoolWorker } from 'vitest/node'

export interface KeptWorker {
  readonly pool: PoolRunnerInitializer
  /** Makes the next run start a new process. */
  drop(): Promise<void>
}

type Listener = Parameters<ForksPoolWorker['on']>[1]

/**
 * A process that outlives a run, with everything that it has loaded. Vitest's own ends with each run, and most of a
 * short run is loading.
 */
export function keptWorker(): KeptWorker {
  let kept: Process | undefined
  const forget = (ended: Process) => {
    if (kept === ended) kept = undefined
  }
  const createPoolWorker: PoolRunnerInitializer['createPoolWorker'] = (options) => {
    const process = kept ?? new Process(new ForksPoolWorker(options), forget)
    kept = process
    return process.forOneRun(() => kept === process)
  }
  return {
    pool: { name: 'kept', createPoolWorker },
    async drop() {
      const dropped = kept
      kept = undefined
      // A running process is ended by its run.
      if (dropped && !dropped.isRunning) await dropped.worker.stop()
    },
  }
}

class Process {
  readonly worker: ForksPoolWorker
  isRunning = false
  #isForked = false
  #isStarted = false
  readonly #onExit: (process: Process) => void

  constructor(worker: ForksPoolWorker, onExit: (process: Process) => void) {
    this.worker = worker
    this.#onExit = onExit
    // Nothing else listens between two runs.
    worker.on('error', () => {})
  }

  /** To Vitest, it is a process that starts and stops with the run. */
  forOneRun(isKept: () => boolean): PoolWorker {
    const { worker } = this
    const listeners: [event: string, listener: Listener][] = []
    const answer = (type: 'started' | 'stopped') => {
      const told = listeners.filter(([event]) => event === 'message')
      for (const [, listener] of told) listener({ type, __vitest_worker_response__: true })
    }
    return {
      name: 'kept',
      cacheFs: worker.cacheFs,
      deserialize: (data) => data,
      on(event, listener) {
        listeners.push([event, listener])
        worker.on(event, listener)
      },
      off(event, listener) {
        const index = listeners.findIndex(([on, each]) => on === event && each === listener)
        if (index >= 0) listeners.splice(index, 1)
        worker.off(event, listener)
      },
      send: (message) => {
        if (message.type === 'stop') return answer('stopped')
        if (message.type === 'start' && this.#isStarted) return answer('started')
        if (message.type === 'start') this.#isStarted = true
        worker.send(message)
      },
      start: async () => {
        this.isRunning = true
        if (this.#isForked) return
        this.#isForked = true
        await worker.start()
        worker.on('exit', () => this.#onExit(this))
      },
      stop: async () => {
        this.isRunning = false
        for (const [event, listener] of listeners.splice(0)) worker.off(event, listener)
        if (!isKept()) await worker.stop()
      },
    }
  }
}
