import { LRUCache } from 'lru-cache'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { askAlive } from '../host-client/ask-alive.ts'
import { Connection, type ConnectionOwner, type UpstreamLimits } from '../host-client/host-connection.ts'
import { HostError } from '../host-client/host-error.ts'
import {
  type AnswerListener,
  type ExchangeControl,
  HostExchange,
  type HostRequest,
} from '../host-client/host-exchange.ts'

/** Returns whether something answers at an address. */
export type IsAlive = (url: URL) => Promise<boolean>

/** Connections to the sites' hosts. */
export interface Upstreams {
  /**
   * Sends a request to a host, `http://address:port` or `https://name@address:port`, on a pooled connection or a new one. Waits for one when there are
   * too many.
   */
  ask(upstream: string, request: HostRequest, listener: AnswerListener): ExchangeControl
  /** The same on a new connection: the pooled ones may all be as stale as one that just broke. */
  askAnew(upstream: string, request: HostRequest, listener: AnswerListener): ExchangeControl
  /** Aborts everything. */
  destroy(): Promise<void>
}

/** If a host owes an answer for this long, the edge checks once a second that it lives. PHP may take much longer. */
const SILENT_AFTER_MS = 1_000
const ASK_EVERY_MS = 1_000

/** Hosts come and go with new ports, and unused pools are dropped. */
const MOST_POOLS = 512
const IDLE_POOL_MS = 600_000

/**
 * Creates the pools. Connections are opened when they are needed.
 * @param trust needed for hosts on other machines, whose address begins with `https`
 * @param isAlive for tests
 */
export function createUpstreams(
  limits: UpstreamLimits,
  isAlive: IsAlive = askAlive,
  trust?: RoleTrust | undefined,
): Upstreams {
  const pools = new LRUCache<string, HostPool>({
    max: MOST_POOLS,
    ttl: IDLE_POOL_MS,
    updateAgeOnGet: true,
    // Requests in flight finish first.
    dispose: (pool) => pool.close(),
  })
  const poolOf = (upstream: string): HostPool => {
    const known = pools.get(upstream)
    if (known) return known
    const pool = new HostPool(new URL(upstream), { limits, isAlive, trust })
    pools.set(upstream, pool)
    return pool
  }
  const endOfChanges = trust?.onChange(() => {
    for (const pool of pools.values()) pool.checkPeers()
  })
  return {
    ask: (upstream, request, listener) => poolOf(upstream).ask(request, listener),
    askAnew: (upstream, request, listener) => poolOf(upstream).askAnew(request, listener),
    async destroy() {
      endOfChanges?.()
      const all = [...pools.values()]
      pools.clear()
      for (const pool of all) pool.destroy()
    },
  }
}

interface PoolOptions {
  readonly limits: UpstreamLimits
  readonly isAlive: IsAlive
  readonly trust: RoleTrust | undefined
}

/** Connections to one host. */
class HostPool implements ConnectionOwner {
  readonly limits: UpstreamLimits
  readonly trust: RoleTrust | undefined
  readonly #url: URL
  readonly #isAlive: IsAlive
  readonly #all = new Set<Connection>()
  /** The most recently used is last and used next, so that surplus ones idle out. */
  readonly #idle: Connection[] = []
  readonly #waiting = new Set<HostExchange>()
  #isClosing = false
  #looks: NodeJS.Timeout | undefined
  /** Whether nothing comes from the host. Until it answers again, requests fail at once. */
  #isSilent = false
  #isAsking = false
  #nextAsk: NodeJS.Timeout | undefined

  constructor(url: URL, { limits, isAlive, trust }: PoolOptions) {
    this.#url = url
    this.#isAlive = isAlive
    this.limits = limits
    this.trust = trust
  }

  /** Closes connections to a host that is no longer trusted. */
  checkPeers(): void {
    for (const connection of [...this.#all]) connection.checkPeer()
  }

  ask(request: HostRequest, listener: AnswerListener): ExchangeControl {
    const exchange = new HostExchange(request, listener)
    if (exchange.isOver) return exchange
    const fault = this.#fault()
    if (fault) return failing(exchange, fault)
    const idle = this.#idleOne()
    if (idle) idle.send(exchange)
    else this.#sendAnew(exchange)
    return exchange
  }

  #fault(): HostError | undefined {
    if (this.#isSilent) return silence()
    if (this.#url.protocol !== 'https:' || this.trust) return undefined
    return new HostError('HOST_UNTRUSTED', 'the host requires TLS, and this edge has no certificate')
  }

  #idleOne(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isUsable) return idle
  }

  askAnew(request: HostRequest, listener: AnswerListener): ExchangeControl {
    const exchange = new HostExchange(request, listener)
    const fault = this.#fault()
    if (fault) return failing(exchange, fault)
    this.#sendAnew(exchange)
    return exchange
  }

  #sendAnew(exchange: HostExchange): void {
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
    let longestMs = 0
    for (const connection of this.#all) {
      longestMs = Math.max(longestMs, connection.waitsMs(nowMs))
      connection.look(nowMs)
    }
    if (longestMs >= SILENT_AFTER_MS && !this.#isSilent && !this.#isAsking) void this.#ask()
  }

  /** Kept connections to a machine that was cut off would hold each request for minutes. */
  async #ask(): Promise<void> {
    this.#isAsking = true
    const isAlive = await this.#isAlive(this.#url)
    this.#isAsking = false
    this.#isSilent = !isAlive && !this.#isClosing
    if (!this.#isSilent) return
    this.#failAll(silence())
    this.#nextAsk = setTimeout(() => void this.#ask(), ASK_EVERY_MS).unref()
  }

  #failAll(error: HostError): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const exchange of waiting) exchange.fail(error)
    for (const connection of [...this.#all]) connection.destroy(error)
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

  /** Returns the request that has waited longest. */
  #next(): HostExchange | undefined {
    const [first] = this.#waiting
    if (first) this.#waiting.delete(first)
    return first
  }

  /** Requests in flight continue. */
  close(): void {
    this.#isClosing = true
    clearTimeout(this.#nextAsk)
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  destroy(): void {
    this.#isClosing = true
    clearTimeout(this.#nextAsk)
    this.#failAll(new HostError('HOST_ABORTED', 'the edge is closed'))
  }
}

const silence = () => new HostError('HOST_SILENT', 'the host is silent')

/** The caller is in the middle of its own work. */
function failing(exchange: HostExchange, error: HostError): HostExchange {
  queueMicrotask(() => exchange.fail(error))
  return exchange
}

const lookEveryMs = ({ connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs }: UpstreamLimits): number =>
  Math.min(1_000, Math.max(20, Math.min(connectTimeoutMs, responseTimeoutMs, bodyTimeoutMs) / 4))
