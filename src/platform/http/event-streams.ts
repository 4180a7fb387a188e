import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Budget, BudgetKey } from '../budgets/budget.ts'
import { httpProblems, Problem } from './problem.ts'

/** The interval of heartbeats, which keep connections open through proxies that close silent ones. */
const HEARTBEAT_MS = 15_000
/** A client that has read nothing for this many heartbeats is not listening. */
const MISSED_HEARTBEATS = 4
/** The longest time until a stream ends after its caller lost access to its content. */
const CHECK_EVERY_MS = 1000

/** A stream of server-sent events to one client. */
export interface EventStream {
  /** Sends a message. A slow client gets only the newest message when it reads again, and skips those before it. */
  send(message: string): void
  /**
   * Calls the listener each time the client has read everything and wants more. A sender that sends once per call loses
   * nothing.
   */
  whenTaken(listener: () => void): void
  end(): void
}

export interface EventStreamsOptions<Facts> {
  /** Limits the number of streams by the key that is passed to `open`. */
  readonly budget: Budget
  /**
   * @returns for each stream, whether its caller may still see its content; called for all streams at once, every
   * second
   */
  mayStay(streams: readonly Facts[]): Promise<readonly boolean[]>
}

/** All event streams of a process. They share their timers. */
export class EventStreams<Facts> {
  readonly #options: EventStreamsOptions<Facts>
  readonly #open = new Map<LatestOnly, Facts>()
  #heartbeat: NodeJS.Timeout | undefined
  #check: NodeJS.Timeout | undefined
  #isChecking = false

  constructor(options: EventStreamsOptions<Facts>) {
    this.#options = options
  }

  /**
   * Begins the response.
   * @param begin receives the stream and starts its source;
   * @returns a function that stops the source, called when the stream ends
   * @throws Problem `too_many_streams`
   */
  open(reply: FastifyReply, key: BudgetKey, facts: Facts, begin: (stream: EventStream) => () => void): FastifyReply {
    const { budget } = this.#options
    const share = budget.share(key)
    if (!share.take(1))
      throw new Problem(
        httpProblems.too_many_streams,
        { limit: budget.terms.each },
        { headers: { 'retry-after': '10' } },
      )
    const stream = new LatestOnly()
    const stop = begin(stream)
    this.#add(stream, facts)
    stream.once('close', () => {
      this.#remove(stream)
      share.free()
      stop()
    })
    // The client may have left, perhaps before this point. A HEAD request has no body to wait for.
    const leave = () => stream.destroy()
    reply.raw.once('close', leave)
    if (reply.raw.destroyed || reply.request.method === 'HEAD') leave()
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        // Some proxies buffer a response before they pass it on.
        'x-accel-buffering': 'no',
      })
      .send(reply.request.method === 'HEAD' ? '' : stream)
  }

  /** Ends all streams, because a client that only listens could delay a stop indefinitely. */
  close(): void {
    for (const stream of this.#open.keys()) stream.destroy()
  }

  #add(stream: LatestOnly, facts: Facts): void {
    this.#open.set(stream, facts)
    this.#heartbeat ??= setInterval(() => {
      for (const each of this.#open.keys()) each.beat()
    }, HEARTBEAT_MS)
    this.#check ??= setInterval(() => void this.#endForbidden(), CHECK_EVERY_MS)
  }

  #remove(stream: LatestOnly): void {
    this.#open.delete(stream)
    if (this.#open.size > 0) return
    clearInterval(this.#heartbeat)
    clearInterval(this.#check)
    this.#heartbeat = undefined
    this.#check = undefined
  }

  async #endForbidden(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      const streams = [...this.#open.keys()]
      const stays = await this.#options.mayStay([...this.#open.values()])
      for (const [index, stream] of streams.entries()) if (!stays[index]) stream.cut()
    } catch {
      // The database is unreachable, so the streams get nothing new in the meantime either.
    } finally {
      this.#isChecking = false
    }
  }
}

/** Holds at most one message in addition to the one being sent. */
class LatestOnly extends Readable implements EventStream {
  #next: string | undefined
  #isWanted = false
  #isEnding = false
  #missed = 0
  #taken: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 1 })
    // The head of a response is sent with its first bytes. This tells a new client at once that it is connected.
    this.push(': here\n\n')
  }

  override _read(): void {
    this.#isWanted = true
    this.#missed = 0
    this.#flush()
  }

  send(message: string): void {
    this.#next = message
    this.#flush()
  }

  whenTaken(listener: () => void): void {
    this.#taken = listener
    if (this.#isWanted && this.#next === undefined) listener()
  }

  /** Ends after the last message. A client that does not read it has until the next heartbeats. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  /** Ends without sending the waiting message. */
  cut(): void {
    this.#next = undefined
    if (this.#isWanted) this.end()
    else this.destroy()
  }

  beat(): void {
    if (this.#isWanted) this.send(': still here\n\n')
    else if (++this.#missed >= MISSED_HEARTBEATS || this.#isEnding) this.destroy()
  }

  #flush(): void {
    if (this.destroyed || !this.#isWanted) return
    const message = this.#next
    this.#next = undefined
    if (message !== undefined) {
      this.#isWanted = false
      this.push(message)
    } else if (this.#isEnding) this.push(null)
    else this.#taken?.()
  }
}
