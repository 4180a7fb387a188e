import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LogCount, LogKind, LogQuery, LogRecord, LogStore } from './log-store.ts'
import type { LogLimits } from './shares.ts'

type Call =
  | { readonly call: 'append'; readonly values: [LogKind, readonly LogRecord[]] }
  | { readonly call: 'page'; readonly values: [LogQuery] }
  | { readonly call: 'count'; readonly values: [LogCount] }
  | { readonly call: 'maintain'; readonly values: [number] }
  | { readonly call: 'close'; readonly values: [] }

/** A request to the thread. */
export type ThreadCall = Call & { readonly number: number }

/** The thread's answer. */
export interface ThreadAnswer {
  readonly number: number
  readonly result?: unknown
  readonly error?: Error
}

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `log-thread${extname(import.meta.filename)}`)

/**
 * Stores log entries in SQLite files of a folder. A dedicated thread writes and reads them: a batch of 1,000 entries
 * takes 10 ms, and a checkpoint waits for the disk. The thread starts with the first call, and again after it died.
 * Calls in progress then fail.
 */
export function openThreadedLogs(folder: string, limits: LogLimits): LogStore {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let thread: Worker | undefined
  let calls = 0

  const start = (): Worker => {
    const started = new Worker(program, {
      workerData: { folder, limits },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    started.on('message', ({ number, result, error }: ThreadAnswer) => {
      const waiting = pending.get(number)
      pending.delete(number)
      if (pending.size === 0) started.unref()
      if (error) waiting?.reject(error)
      else waiting?.resolve(result)
    })
    const ended = (error: Error) => {
      if (thread === started) thread = undefined
      for (const { reject } of pending.values()) reject(error)
      pending.clear()
    }
    started.on('error', ended)
    started.on('exit', () => ended(new Error('the thread of the logs ended')))
    return started
  }
  const ask = async (call: Call): Promise<unknown> => {
    thread ??= start()
    const number = ++calls
    const answer = Promise.withResolvers<unknown>()
    pending.set(number, answer)
    // A process with nothing else to do waits for its logs, and only for them.
    thread.ref()
    thread.postMessage({ ...call, number } satisfies ThreadCall)
    return answer.promise
  }
  return {
    async append(kind, records) {
      if (records.length > 0) await ask({ call: 'append', values: [kind, records] })
    },
    page: (query) => ask({ call: 'page', values: [query] }) as Promise<LogRecord[]>,
    count: (query) => ask({ call: 'count', values: [query] }) as Promise<number>,
    async maintain(nowMs) {
      await ask({ call: 'maintain', values: [nowMs] })
    },
    async close() {
      if (!thread) return
      const ending = thread
      await ask({ call: 'close', values: [] }).catch(() => {})
      await ending.terminate()
    },
  }
}
