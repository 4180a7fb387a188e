import type { Worker } from 'node:worker_threads'
import { copyToMove, type FromThread, type ToThread } from './messages.ts'
import { restThread, takeThread } from './resting-threads.ts'

export interface OrderedThreadOptions {
  /** The path of a program that calls `serveOrders`. */
  readonly program: string
  /** The memory limit of its values, without bytes. A thread that exceeds it ends, but the process does not. */
  readonly mostMb: number
  /** The error classes that are restored, by their names. */
  readonly errors: readonly (new (
    message: string,
  ) => Error)[]
}

export interface OrderInput {
  /** The input of the order. */
  readonly input?: AsyncIterable<Uint8Array>
  /** Called when this many bytes were read. */
  readonly onRead?: (doneBytes: number) => void
}

/** A thread that executes one order after another, and keeps what earlier ones have opened. */
export class OrderedThread<Order> {
  readonly #options: OrderedThreadOptions
  readonly #worker: Worker
  #heard = Promise.withResolvers<FromThread>()
  #fault: unknown
  #isEnded = false
  readonly #onMessage = (words: FromThread) => this.#heard.resolve(words)
  readonly #onFault = (error: unknown) => this.#fail(error)
  readonly #onExit = () => this.#fail(new Error('A thread ended'))

  constructor(options: OrderedThreadOptions) {
    this.#options = options
    this.#worker = takeThread(options.program, { resourceLimits: { maxOldGenerationSizeMb: options.mostMb } })
    this.#worker.on('message', this.#onMessage).on('error', this.#onFault).on('exit', this.#onExit)
  }

  /**
   * Executes an order that returns only its result.
   * @throws the thread's error
   */
  async do<Result>(order: Order, { input, onRead = () => {} }: OrderInput = {}): Promise<Result> {
    const pieces = input?.[Symbol.asyncIterator]()
    let doneBytes = 0
    let isRead = false
    try {
      for (let words = await this.#ask({ order }); ; ) {
        if ('done' in words) return words.done as Result
        if (doneBytes > 0) onRead(doneBytes)
        const next = (await pieces?.next()) ?? { done: true, value: undefined }
        isRead = next.done === true
        doneBytes += next.value?.length ?? 0
        words = await this.#give(next.done ? undefined : next.value)
      }
    } finally {
      if (!isRead) await pieces?.return?.()
    }
  }

  /**
   * Executes an order that yields pieces. A caller that does not take all of them ends the thread.
   * @throws the thread's error
   */
  async *take(order: Order): AsyncGenerator<Buffer, void, void> {
    let isWhole = false
    try {
      for (let words = await this.#ask({ order }); 'gives' in words; words = await this.#ask({ taken: true })) {
        const { buffer, byteOffset, byteLength } = words.gives
        yield Buffer.from(buffer, byteOffset, byteLength)
      }
      isWhole = true
    } finally {
      if (!isWhole) this.end()
    }
  }

  /** Whether it accepts no more orders, because it rests or was ended. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Keeps the thread for others. Nothing that it opened may still be open. */
  async rest(): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    // Later orders would reach the thread of another owner.
    this.#fault ??= new Error('A thread has another owner')
    this.#worker.off('message', this.#onMessage).off('error', this.#onFault).off('exit', this.#onExit)
    await restThread(this.#options.program, this.#worker)
  }

  /**
   * Interrupts its work, and closes everything that it has open.
   * @param reason the error of an order in progress
   */
  end(reason: unknown = new Error('A thread was ended')): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#fail(reason)
    void this.#worker.terminate()
  }

  #give(piece: Uint8Array | undefined): Promise<Exclude<FromThread, { failed: unknown }>> {
    if (piece === undefined) return this.#ask({ piece })
    const copy = copyToMove(piece)
    return this.#ask({ piece: copy }, [copy.buffer])
  }

  async #ask(words: ToThread<Order>, moved: ArrayBuffer[] = []): Promise<Exclude<FromThread, { failed: unknown }>> {
    if (this.#fault !== undefined) throw this.#fault
    this.#heard = Promise.withResolvers()
    this.#worker.postMessage(words, moved)
    const answer = await this.#heard.promise
    if (!('failed' in answer)) return answer
    const { name, message, code } = answer.failed
    const Known = this.#options.errors.find((each) => each.name === name)
    throw Known ? new Known(message) : Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
  }

  #fail(error: unknown): void {
    this.#fault ??= error
    // It may fail while no order waits for it.
    this.#heard.promise.catch(() => {})
    this.#heard.reject(error)
  }
}
