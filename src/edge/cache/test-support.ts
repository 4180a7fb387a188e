/** A gateway with a cache before a scripted host, and a database of purges in memory. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { defaultLimits } from '../edge-limits.ts'
import type { InFlightLimiter } from '../gateway/in-flight.ts'
import { createUpstreams } from '../proxy/upstreams.ts'
import type { Route } from '../routing/route.ts'
import { edgeRules } from '../rules/index.ts'
import { ask, type Cleanup, type Reply, routeTo, startGateway, startHost, type TestGateway } from '../test-support.ts'
import type { PageCacheOptions } from './cache.ts'
import { createPageCache, type PageCache } from './page-cache.ts'
import { createPurgeFeed, type Purge, type PurgeFeed } from './purge/purge-feed.ts'

/** Stores purges as the database would. `commit` adds one. */
export function purgeLog() {
  const purges: Purge[] = []
  const callbacks = new Set<() => void>()
  const epochs = { page: 1, file: 1 }
  return {
    purges,
    epochs,
    /** Set to make it fail like an unreachable database. */
    isAway: false,
    commit(order: { pages?: 'all' | readonly string[]; files?: 'all' | readonly string[] }, announced = true): number {
      const { pages = [], files = [] } = order
      if (pages === 'all') epochs.page++
      if (files === 'all') epochs.file++
      purges.push({
        seq: purges.length + 1,
        siteId: 7,
        pageEpoch: pages === 'all' ? epochs.page : null,
        fileEpoch: files === 'all' ? epochs.file : null,
        paths: [pages, files].flatMap((each) => (each === 'all' ? [] : each)),
      })
      if (announced) for (const callback of callbacks) callback()
      return purges.length
    },
    async since(seq: number | undefined) {
      if (this.isAway) throw new Error('the database is away')
      await new Promise((resolve) => setImmediate(resolve))
      return { newest: purges.length, purges: seq === undefined ? [] : purges.slice(seq) }
    },
    onChange(callback: () => void) {
      callbacks.add(callback)
      return () => void callbacks.delete(callback)
    },
  }
}

export type PurgeLog = ReturnType<typeof purgeLog>

export interface CachedSite extends TestGateway {
  readonly cache: PageCache
  readonly feed: PurgeFeed
  readonly log: PurgeLog
  readonly upstream: string
  route: Route
  /** The requests that the host got, in order. */
  readonly asked: IncomingMessage[]
  get(path?: string, headers?: Record<string, string>, method?: string): Promise<Reply>
}

export type Script = (request: IncomingMessage, response: ServerResponse, count: number) => void

/**
 * Starts the site. `script` answers as its host. The route only knows the site's epochs at the time of its last load.
 */
export async function startCachedSite(
  cleanup: Cleanup,
  script: Script,
  more: {
    route?: Partial<Route>
    cache?: Partial<PageCacheOptions>
    inFlight?: InFlightLimiter
    feedMs?: { pollMs?: number; currentMs?: number }
  } = {},
): Promise<CachedSite> {
  const asked: IncomingMessage[] = []
  const upstream = await startHost(cleanup, (request, response) => {
    asked.push(request)
    script(request, response, asked.length)
  })
  const log = purgeLog()
  const feed = createPurgeFeed({
    since: (seq) => log.since(seq),
    onChange: (callback) => log.onChange(callback),
    ...more.feedMs,
  })
  await feed.refresh()
  cleanup.add(() => feed.close())
  const upstreams = createUpstreams(defaultLimits.upstream)
  cleanup.add(() => upstreams.destroy())
  const cache = createPageCache({
    upstreams,
    hostKey: 'key-of-the-host',
    purges: feed,
    memoryBytes: 32 << 20,
    ...more.cache,
  })
  cleanup.add(() => cache.close())
  const site = {
    route: routeTo(upstream, { hasEdgeCache: true, cacheEpoch: 1, hasCdn: true, cdnEpoch: 1, ...more.route }),
  }
  const { port, gateway } = await startGateway(
    cleanup,
    {},
    {
      routes: { find: (name) => (name === 'site.test' ? site.route : undefined) },
      rules: edgeRules({ cache: cache.rule }),
      upstreams,
      reachPurge: (seq) => feed.reach(seq),
      ...(more.inFlight && { inFlight: more.inFlight }),
    },
  )
  return Object.assign(site, {
    port,
    gateway,
    cache,
    feed,
    log,
    upstream,
    asked,
    get: (path = '/', headers = {}, method = 'GET') => ask(port, path, { headers, method }),
  })
}

/** Answers as a PHP page. */
export function page(
  response: ServerResponse,
  body: string,
  headers: Record<string, string | string[]> = {},
  status = 200,
): void {
  response.sendDate = false
  response.writeHead(status, { 'content-type': 'text/html; charset=UTF-8', 'x-stead-renderer': 'php', ...headers })
  response.end(body)
}

/** Answers as a file. */
export function file(
  response: ServerResponse,
  body: string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, {
    'content-type': 'text/css',
    'x-stead-renderer': 'static',
    'cache-control': 'public, max-age=86400',
    'content-length': String(body.length),
    ...headers,
  })
  response.end(body)
}

/** Advances the monotonic clock until the end of the test. */
export function clockOf(cleanup: Cleanup): (ms: number) => void {
  const clock = performance.now
  let aheadMs = 0
  performance.now = () => clock.call(performance) + aheadMs
  cleanup.add(() => {
    performance.now = clock
  })
  return (ms) => {
    aheadMs += ms
  }
}

export const decoders = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync }

/** Returns `hit`, or the reason of a forward, from a reply's `Cache-Status`. */
export const statusOf = (reply: Reply): string => String(reply.headers['cache-status'] ?? '')
