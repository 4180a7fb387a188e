/**
 * Responses of PHP on their way to visitors who read slowly.
 *
 * A site's PHP does one thing at a time, and is busy until its output is read. So its output is read as it arrives and
 * waits here, the first part in memory, the rest in an unnamed file. Both count against budgets of the site and of the
 * host. When the budgets are used up, PHP waits, but not for long: then the slowest visitor is disconnected.
 */
import type { ServerResponse } from 'node:http'
import type { Budget, Share } from '../../platform/budgets/budget.ts'
import { SpillFile } from './spill-file.ts'

export interface HeldAnswersOptions {
  /** Bytes of responses in memory. */
  readonly memory: Budget
  /** Bytes of responses in files. */
  readonly disk: Budget
  /** The folder for the files; see `namelessFolder`. */
  readonly folder: string
  /** How long PHP waits for space, and how long a visitor may read nothing before being disconnected for others. */
  /** Returns whether the folder's disk has space for sites' data. Default: always. */
  readonly hasRoom?: () => boolean
  readonly patienceMs?: number
  readonly log: { warn(facts: object, message: string): void }
}

/** A visitor who read too slowly was disconnected in favor of others. */
export class ReaderTooSlow extends Error {
  override readonly name = 'ReaderTooSlow'
}

/** The limit for one response in memory, however much the site may use. */
const MOST_MEMORY_BYTES = 1 << 20
const PATIENCE_MS = 2000

/** All responses of a web server in progress. */
export class HeldAnswers {
  readonly options: HeldAnswersOptions
  readonly patienceMs: number
  readonly #answers = new Set<HeldAnswer>()
  #waiting: (() => void)[] = []

  constructor(options: HeldAnswersOptions) {
    this.options = options
    this.patienceMs = options.patienceMs ?? PATIENCE_MS
  }

  /**
   * Sends a body as fast as it arrives, keeps what the visitor has not read yet, and ends the response.
   * @throws the error of the source; ReaderTooSlow; an error when the visitor disconnects
   */
  async send(siteId: number, body: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
    const answer = new HeldAnswer(this, siteId, response)
    this.#answers.add(answer)
    try {
      for await (const chunk of body) await answer.put(chunk)
      await answer.finish()
    } finally {
      this.#answers.delete(answer)
      await answer.close()
      this.freed()
    }
  }

  /** Retries for space, because a visitor has read or disconnected. */
  freed(): void {
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Waits until there may be space for `answer`. Disconnects a visitor who has blocked it for too long. */
  async room(answer: HeldAnswer, since: number): Promise<void> {
    const slowest = this.#slowest(answer)
    const now = performance.now()
    const leftMs = this.patienceMs - (now - Math.min(since, slowest.progressAt))
    if (leftMs <= 0) {
      this.options.log.warn({ siteId: slowest.siteId }, 'a visitor who reads too slowly was cut off: PHP had to wait')
      slowest.cutOff()
      // The space of that response is free then.
      return slowest === answer ? undefined : slowest.closed
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, leftMs)
    this.#waiting.push(resolve)
    await promise
    clearTimeout(timer)
  }

  /**
   * Returns the response to disconnect: of this site if it uses too much, otherwise of the site that uses most. Prefers
   * the one that was not read for the longest time, if that is long, and otherwise the one with the slowest reader.
   */
  #slowest(answer: HeldAnswer): HeldAnswer {
    const { disk } = this.options
    const { each } = disk.terms
    const siteId = disk.usedBy(answer.siteId) + MOST_MEMORY_BYTES > each ? answer.siteId : disk.largest()
    const now = performance.now()
    const pace = (other: HeldAnswer) => {
      const stillMs = now - other.progressAt
      return stillMs >= this.patienceMs ? -stillMs : other.bytesPerMs(now)
    }
    let slowest = answer
    for (const other of this.#answers)
      if (other.siteId === siteId && other.holds && pace(other) < pace(slowest)) slowest = other
    return slowest
  }
}

class HeldAnswer {
  readonly siteId: number
  /** When the visitor last read something. */
  progressAt = performance.now()
  readonly closed: Promise<void>
  readonly #startedAt = performance.now()
  readonly #all: HeldAnswers
  readonly #response: ServerResponse
  readonly #memory: Share
  readonly #pieces: Buffer[] = []
  readonly #file: SpillFile
  #pumping: Promise<void> | undefined
  #failed: Error | undefined
  #sentBytes = 0
  #closing = Promise.withResolvers<void>()
  /** Resumes the code that waits for the visitor. */
  #wake: () => void = () => {}

  constructor(all: HeldAnswers, siteId: number, response: ServerResponse) {
    const { memory, disk, folder, hasRoom } = all.options
    this.#all = all
    this.siteId = siteId
    this.#response = response
    this.#memory = memory.share(siteId)
    this.#file = new SpillFile(folder, disk.share(siteId), hasRoom)
    this.closed = this.#closing.promise
    response.on('drain', () => this.#wake())
    response.once('close', () => this.#wake())
  }

  /** Returns whether ending it would free space for others. */
  get holds(): boolean {
    return this.#file.used > 0
  }

  bytesPerMs(now: number): number {
    return this.#sentBytes / (now - this.#startedAt)
  }

  cutOff(): void {
    this.#failed = new ReaderTooSlow('the visitor reads too slowly')
    this.#response.destroy()
  }

  /** Resolves when the bytes are sent or kept. */
  async put(chunk: Buffer): Promise<void> {
    this.#check()
    if (!this.#pumping && !this.#response.writableNeedDrain) return this.#write(chunk)
    if (this.#file.used === 0 && this.#keep(chunk)) return this.#pump()
    const since = performance.now()
    for (let rest = chunk; rest.length > 0; ) {
      const written = await this.#file.write(rest)
      rest = rest.subarray(written)
      if (written > 0) this.#pump()
      else await this.#all.room(this, since)
      this.#check()
    }
  }

  /** Resolves when the visitor has everything, as far as this machine can tell. */
  async finish(): Promise<void> {
    await this.#pumping
    this.#check()
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve
      this.#response.once('finish', resolve)
    })
    this.#response.end()
    await ended
    if (!this.#response.writableFinished) this.#check()
  }

  async close(): Promise<void> {
    this.#failed ??= new Error('closed')
    this.#wake()
    await this.#pumping
    this.#memory.free()
    await this.#file.close()
    this.#closing.resolve()
  }

  #check(): void {
    if (this.#failed) throw this.#failed
    if (this.#response.destroyed) throw new Error('the visitor has gone')
  }

  #write(bytes: Buffer): void {
    this.#sentBytes += bytes.length
    this.progressAt = performance.now()
    this.#response.write(bytes)
  }

  #keep(chunk: Buffer): boolean {
    if (this.#memory.amount + chunk.length > MOST_MEMORY_BYTES || !this.#memory.take(chunk.length)) return false
    // A few bytes would keep the 64 kB buffer that they arrived in.
    this.#pieces.push(chunk.buffer.byteLength > 2 * chunk.length ? Buffer.from(chunk) : chunk)
    return true
  }

  /** Sends what is kept, as fast as the visitor reads it. */
  #pump(): void {
    this.#pumping ??= this.#passOn()
      .catch((error: Error) => {
        this.#failed ??= error
        this.#response.destroy()
      })
      .finally(() => {
        this.#pumping = undefined
      })
  }

  async #passOn(): Promise<void> {
    for (;;) {
      while (this.#response.writableNeedDrain && !this.#failed && !this.#response.destroyed)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      if (this.#failed || this.#response.destroyed) return
      const piece = this.#pieces.shift()
      if (piece) this.#memory.give(piece.length)
      else if (this.#file.used === 0) return
      this.#write(piece ?? (await this.#file.read()))
      this.#all.freed()
    }
  }
}
