import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Bzip2Block } from './bzip2-block.ts'

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `bzip2-thread${extname(import.meta.filename)}`)

/** The time after which idle threads end, because each keeps about 30 MB. */
const IDLE_MS = 20_000

interface Order {
  readonly content: Uint8Array<ArrayBuffer>
  readonly signal: AbortSignal | undefined
  readonly answer: PromiseWithResolvers<Bzip2Block>
}

/**
 * Threads that compress blocks for all callers, in the order of their calls. They start on demand, and end when idle.
 */
export class Bzip2Threads {
  /** How many blocks are compressed at a time. */
  readonly count: number
  readonly #waiting: Order[] = []
  readonly #busy = new Map<Worker, Order>()
  readonly #idle: Worker[] = []
  #ending: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(count: number) {
    this.count = count
  }

  /**
   * Compresses a block.
   * @param content belongs to the thread from now on, with its whole buffer
   * @throws the signal's reason, if the work has not begun by then
   */
  compress(content: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Bzip2Block> {
    const answer = Promise.withResolvers<Bzip2Block>()
    this.#waiting.push({ content, signal, answer })
    this.#next()
    return answer.promise
  }

  /** Ends the threads. Unfinished calls fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#ending)
    this.#next()
    await Promise.all([...this.#busy.keys(), ...this.#idle].map((thread) => thread.terminate()))
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      if (!this.#isClosed && this.#busy.size >= this.count) return
      const { content, signal, answer } = this.#waiting[0]!
      if (this.#isClosed) answer.reject(new Error('the threads of bzip2 were closed'))
      else if (signal?.aborted) answer.reject(signal.reason)
      else this.#begin(this.#waiting[0]!, content)
      this.#waiting.shift()
    }
  }

  #begin(order: Order, content: Uint8Array<ArrayBuffer>): void {
    const thread = this.#idle.pop() ?? this.#start()
    this.#busy.set(thread, order)
    thread.ref()
    thread.postMessage(content, [content.buffer])
  }

  #start(): Worker {
    const thread = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: 64 } })
    const ended = (error: Error) => {
      this.#busy.get(thread)?.answer.reject(error)
      this.#busy.delete(thread)
      const place = this.#idle.indexOf(thread)
      if (place >= 0) this.#idle.splice(place, 1)
      this.#next()
    }
    thread.on('message', (block: Bzip2Block) => {
      this.#busy.get(thread)?.answer.resolve(block)
      this.#rest(thread)
      this.#next()
    })
    thread.on('error', ended)
    thread.on('exit', () => ended(new Error('a thread of bzip2 ended')))
    return thread
  }

  #rest(thread: Worker): void {
    this.#busy.delete(thread)
    this.#idle.push(thread)
    // A process with nothing else to do must not wait for idle threads.
    thread.unref()
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => {
      for (const idle of this.#idle.splice(0)) void idle.terminate()
    }, IDLE_MS).unref()
  }
}
