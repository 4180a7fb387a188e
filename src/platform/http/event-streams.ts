import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Budget, BudgetKey } from '../budgets/budget.ts'
import { Problem, problems } from './problem.ts'

/** Keeps connections through proxies that close silent ones. */
const HEARTBEAT_MS = 15_000
/** Who took nothing for so many heartbeats does not listen. */
const MISSED_HEARTBEATS = 4
/** How soon a stream whose caller may no longer see what it tells ends, at the latest. */
const CHECK_EVERY_MS = 1000

/** A stream of server-sent events to one client. */
export interface EventStream {
  /** Sends a message. A client that does not read gets the newest when it does; what came before is left out. */
  send(message: string): void
  /** Tells each time that the client has taken everything and wants more: who sends once for each loses nothing. */
  whenTaken(listener: () => void): void
  end(): void
}

export interface EventStreamsOptions<Facts> {
  /** How many there may be, by the key that is given to `open`. */
  readonly budget: Budget
  /** @returns for each of the streams whether its caller may still see what it tells; asked about all at once, every second */
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
   * @param begin is given the stream and starts what feeds it; @returns a function that ends that, called when the stream ends
   * @throws Problem `too_many_streams`
   */
  open(reply: FastifyReply, key: BudgetKey, facts: Facts, begin: (stream: EventStream) => () => void): FastifyReply {
    const { budget } = this.#options
    const share = budget.share(key)
    if (!share.take(1))
      throw new Problem(problems.too_many_streams, { limit: budget.terms.each }, { headers: { 'retry-after': '10' } })
    const stream = new LatestOnly()
    const stop = begin(stream)
    this.#add(stream, facts)
    stream.once('close', () => {
      this.#remove(stream)
      share.free()
      stop()
    })
    // the client went away, be it before this point; a HEAD request has no body to wait for
    const leave = () => stream.destroy()
    reply.raw.once('close', leave)
    if (reply.raw.destroyed || reply.request.method === 'HEAD') leave()
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        // some proxies collect a response before they pass it on
        'x-accel-buffering': 'no',
      })
      .send(reply.request.method === 'HEAD' ? '' : stream)
  }

  /** Ends all: who only listens would hold up a stop for as long as he likes. */
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
      // the database cannot be reached: nothing new is told meanwhile, either
    } finally {
      this.#isChecking = false
    }
  }
}

/** Holds one message at most besides the one that is on its way. */
class LatestOnly extends Readable implements EventStream {
  #next: string | undefined
  #isWanted = false
  #isEnding = false
  #missed = 0
  #taken: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 1 })
    // the head of a response goes with its first bytes: whoever connects knows at once that it is heard
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

  /** After what there is to say; who does not take it has until the next heartbeats. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  /** Says nothing more. */
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
