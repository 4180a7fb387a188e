import { LRUCache } from 'lru-cache'
import { Client, Pool } from 'undici'

/** Limits towards the hosts. */
export interface UpstreamLimits {
  /** Connections to one host. */
  readonly connections: number
  readonly connectTimeoutMs: number
  /** From the end of the request to the head of the response. */
  readonly responseTimeoutMs: number
  /** Between two pieces of a response's body. */
  readonly bodyTimeoutMs: number
}

/** Connections to the sites' hosts. */
export interface Upstreams {
  /** The pool of keep-alive connections to `http://address:port`. */
  pool(upstream: string): Pool
  /** A connection of its own for one request; close it after. */
  fresh(upstream: string): Client
  /** Breaks off everything. */
  destroy(): Promise<void>
}

/** Hosts come and go with new ports; pools that nobody asks for any more are let go. */
const MOST_POOLS = 512
const IDLE_POOL_MS = 600_000

/** Makes the pools; no connection is opened before it is needed. */
export function createUpstreams(limits: UpstreamLimits): Upstreams {
  const options = {
    pipelining: 1,
    connect: { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.responseTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
    keepAliveTimeout: 4_000,
    // Node's server announces its own idle timeout in `Keep-Alive`; undici leaves earlier than that.
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: 65_536,
    strictContentLength: true,
    allowH2: false,
  }
  const pools = new LRUCache<string, Pool>({
    max: MOST_POOLS,
    ttl: IDLE_POOL_MS,
    updateAgeOnGet: true,
    // Requests under way finish first. A host that is gone makes close() reject; nobody waits for it.
    dispose: (pool) => void pool.close().catch(() => {}),
  })
  return {
    pool(upstream) {
      const known = pools.get(upstream)
      if (known) return known
      const pool = new Pool(upstream, { ...options, connections: limits.connections })
      pools.set(upstream, pool)
      return pool
    },
    fresh: (upstream) => new Client(upstream, options),
    async destroy() {
      const all = [...pools.values()]
      pools.clear()
      await Promise.all(all.map((pool) => pool.destroy()))
    },
  }
}
