import { LRUCache } from 'lru-cache'
import { Connection, type ConnectionOwner, type UpstreamLimits } from '../host-client/connection.ts'
import { type AnswerListener, type Control, Exchange, type HostRequest } from '../host-client/exchange.ts'
import { HostError } from '../host-client/host-error.ts'

export type { UpstreamLimits }

/** Connections to the sites' hosts. */
export interface Upstreams {
  /** Asks a host, `http://address:port`, on a connection that is kept, or on a new one; waits for one when there are too many. */
  ask(upstream: string, request: HostRequest, listener: AnswerListener): Control
  /** On a new connection: those that are kept may all be as stale as one that just broke. */
  askAnew(upstream: string, request: HostRequest, listener: AnswerListener): Control
  /** Breaks off everything. */
  destroy(): Promise<void>
}

/** Hosts come and go with new ports; pools that nobody asks for any more are let go. */
const MOST_POOLS = 512
const IDLE_POOL_MS = 600_000

/** Makes the pools; no connection is opened before it is needed. */
export function createUpstreams(limits: UpstreamLimits): Upstreams {
  const pools = new LRUCache<string, HostPool>({
    max: MOST_POOLS,
    ttl: IDLE_POOL_MS,
    updateAgeOnGet: true,
    // requests under way finish first
    dispose: (pool) => pool.close(),
  })
  const poolOf = (upstream: string): HostPool => {
    const known = pools.get(upstream)
    if (known) return known
    const pool = new HostPool(new URL(upstream), limits)
    pools.set(upstream, pool)
    return pool
  }
  return {
    ask: (upstream, request, listener) => poolOf(upstream).ask(request, listener),
    askAnew: (upstream, request, listener) => poolOf(upstream).askAnew(request, listener),
    async destroy() {
      const all = [...pools.values()]
      pools.clear()
      for (const pool of all) pool.destroy()
    },
  }
}

/** Connections to one host. */
class HostPool implements ConnectionOwner {
  readonly limits: UpstreamLimits
  readonly #url: URL
  readonly #all = new Set<Connection>()
  /** Who was used last is last, and used next: those that are not needed go. */
  readonly #idle: Connection[] = []
  readonly #waiting = new Set<Exchange>()
  #isClosing = false
  #looks: NodeJS.Timeout | undefined

  constructor(url: URL, limits: UpstreamLimits) {
    this.#url = url
    this.limits = limits
  }

  ask(request: HostRequest, listener: AnswerListener): Control {
    const exchange = new Exchange(request, listener)
    if (exchange.isOver) return exchange
    const idle = this.#idleOne()
    if (idle) idle.send(exchange)
    else this.#sendAnew(exchange)
    return exchange
  }

  #idleOne(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isUsable) return idle
  }

  askAnew(request: HostRequest, listener: AnswerListener): Control {
    const exchange = new Exchange(request, listener)
    this.#sendAnew(exchange)
    return exchange
  }

  #sendAnew(exchange: Exchange): void {
    if (exchange.isOver) return
    if (this.#all.size >= this.limits.connections) {
      this.#waiting.add(exchange)
      exchange.leave = () => void this.#waiting.delete(exchange)
      return
    }
    const connection = new Connection(this.#url, this)
    this.#all.add(connection)
    this.#looks ??= setInterval(() => this.#look(), lookEveryMs(this.limits)).unref()
    connection.send(exchange)
  }

  #look(): void {
    const nowMs = performance.now()
    for (const connection of this.#all) connection.look(nowMs)
  }

  isFree(connection: Connection): void {
    const next = this.#next()
    if (next) connection.send(next)
    else if (this.#isClosing) connection.close()
    else this.#idle.push(connection)
  }

  isGone(connection: Connection): void {
    this.#all.delete(connection)
    const place = this.#idle.indexOf(connection)
    if (place >= 0) this.#idle.splice(place, 1)
    const next = this.#next()
    if (next) this.#sendAnew(next)
    if (this.#all.size > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }

  /** Who has waited longest. */
  #next(): Exchange | undefined {
    const [first] = this.#waiting
    if (first) this.#waiting.delete(first)
    return first
  }

  /** What is under way goes on. */
  close(): void {
    this.#isClosing = true
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  destroy(): void {
    const error = new HostError('HOST_ABORTED', 'the edge is closed')
    this.#isClosing = true
    for (const exchange of this.#waiting) exchange.fail(error)
    this.#waiting.clear()
    for (const connection of this.#all) connection.destroy(error)
  }
}

const lookEveryMs = ({ connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs }: UpstreamLimits): number =>
  Math.min(1_000, Math.max(20, Math.min(connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs) / 4))
