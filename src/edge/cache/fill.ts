import type { Dispatcher } from 'undici'
import { responseHeaders } from '../forwarding.ts'
import type { Upstreams } from '../upstreams.ts'
import { createEntry, type Entry } from './entry.ts'
import { type Lifetime, lifetimeOf, type Tier } from './lifetime.ts'

/** What is fetched, and for whom. */
export interface FillRequest {
  readonly key: string
  readonly path: string
  /** Path and query for the host. */
  readonly target: string
  readonly siteId: number
  readonly upstream: string
  /** For the host, raw and flat. */
  readonly headers: readonly string[]
  /** Of the site, by tier, when the request begins: what purges raise. */
  readonly epochs: Readonly<Record<Tier, number>>
  /** Tiers that the site has switched on. */
  readonly tiers: Readonly<Record<Tier, boolean>>
  /** The entry that is being fetched anew, if any. */
  readonly stale: Entry | undefined
}

/** The head of the host's answer. */
export interface FillHead {
  readonly status: number
  readonly reason: string
  /** Raw pairs for the visitor, flat. */
  readonly headers: string[]
  readonly renderer: string
  readonly lifetime: Lifetime | string
  /** Set by the host when the request changed content. */
  readonly purgeSeq: number
}

/** The visitor whose request is sent on: it gets the answer as it comes. */
export interface Leader {
  /** @returns false when it does not want this answer: it asks the host itself */
  head(head: FillHead): boolean
  /** @returns false when it cannot take more for now; `resume` is called when it can */
  data(chunk: Buffer, resume: () => void): boolean
  end(): void
  /** After `head`: the answer breaks off. Before it: the host does not answer. */
  failed(error: Error): void
}

/** What came of a fill, for those who waited for it. */
export type FillResult =
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** Nobody else can have this answer. */
  | { readonly kind: 'uncacheable'; readonly reason: string }
  /** The host failed (no answer, or 5xx). */
  | { readonly kind: 'failed'; readonly error?: Error }

const BROKEN_CONNECTION = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

type Controller = Dispatcher.DispatchController & { rawHeaders?: Buffer[] }

/** One GET to the host whose answer may be kept. It goes on without its visitor as long as somebody waits for it. */
export class Fill implements Dispatcher.DispatchHandler {
  readonly request: FillRequest
  leader: Leader | undefined
  /** A purge came while it was under way: what it brings is from before. */
  isDoomed = false
  waiters = 0
  readonly result: Promise<FillResult>
  readonly #settle: (result: FillResult) => void
  readonly #upstreams: Upstreams
  readonly #mostBytes: number
  #controller: Controller | undefined
  #chunks: Buffer[] | undefined = []
  #bytes = 0
  #head: FillHead | undefined
  #retried = false
  #started = false
  readonly #isBackground: boolean

  /** @param options.isBackground it goes on though nobody waits for it */
  constructor(
    request: FillRequest,
    upstreams: Upstreams,
    mostBytes: number,
    { leader, isBackground }: { leader: Leader | undefined; isBackground: boolean },
  ) {
    this.request = request
    this.leader = leader
    this.#isBackground = isBackground
    this.#upstreams = upstreams
    this.#mostBytes = mostBytes
    const { promise, resolve } = Promise.withResolvers<FillResult>()
    this.result = promise
    this.#settle = resolve
  }

  start(): void {
    this.#dispatch(this.#upstreams.pool(this.request.upstream))
  }

  /** The visitor has gone. */
  leave(): void {
    this.leader = undefined
    if (this.#isWanted) this.#controller?.resume()
    else this.#controller?.abort(new Error('nobody waits for this answer'))
  }

  /** A waiter has gone. */
  leaveWaiting(): void {
    this.waiters--
    if (!this.#isWanted) this.#controller?.abort(new Error('nobody waits for this answer'))
  }

  /** Somebody waits, or the answer is on its way into the cache already. */
  get #isWanted(): boolean {
    const isKept = this.#head !== undefined && typeof this.#head.lifetime !== 'string'
    return this.#isBackground || this.leader !== undefined || this.waiters > 0 || isKept
  }

  #dispatch(dispatcher: Dispatcher): void {
    const { target, headers } = this.request
    dispatcher.dispatch({ path: target, method: 'GET', headers: headers as string[], reset: false }, this)
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (!this.#isWanted) controller.abort(new Error('nobody waits for this answer'))
  }

  onResponseStarted(): void {
    this.#started = true
  }

  onResponseStart(controller: Controller, status: number, _headers: unknown, reason = ''): void {
    if (status < 200) return
    const { headers, notes } = responseHeaders(controller.rawHeaders ?? [])
    const { renderer, purgeSeq } = notes
    const { stale, tiers } = this.request
    const tier: Tier = renderer === 'static' ? 'file' : 'page'
    const isRenewal = status === 304 && stale !== undefined
    const facts = { status: isRenewal ? stale.status : status, headers, tier, isPrivate: notes.isPrivate }
    let lifetime = lifetimeOf(facts, Date.now())
    if (!tiers[tier]) lifetime = 'off'
    else if (lengthOf(headers) > this.#mostBytes) lifetime = 'size'
    this.#head = { status, reason, headers, renderer, lifetime, purgeSeq }
    if (isRenewal) return
    if (typeof lifetime === 'string') {
      this.#chunks = undefined
      this.#settle(status >= 500 ? { kind: 'failed' } : { kind: 'uncacheable', reason: lifetime })
    }
    if (this.leader && !this.leader.head(this.#head)) this.leader = undefined
    if (!this.leader && !this.#chunks) controller.abort(new Error('nobody wants this answer'))
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#chunks && this.#bytes > this.#mostBytes) {
      this.#chunks = undefined
      this.#settle({ kind: 'uncacheable', reason: 'size' })
      if (!this.leader) controller.abort(new Error('nobody wants this answer'))
    }
    this.#chunks?.push(chunk)
    const takesMore = this.leader?.data(chunk, () => controller.resume()) ?? true
    // A slow visitor does not hold up a page that others wait for: it is held in memory anyway.
    if (!takesMore && !this.#chunks) controller.pause()
  }

  onResponseEnd(): void {
    const head = this.#head as FillHead
    const { stale } = this.request
    if (head.status === 304 && stale) this.#settle({ kind: 'entry', entry: renewed(stale, head.lifetime) })
    else if (this.#chunks && typeof head.lifetime !== 'string')
      this.#settle({ kind: 'entry', entry: this.#entry(head, head.lifetime) })
    this.leader?.end()
  }

  #entry(head: FillHead, lifetime: Lifetime): Entry {
    const { key, path, siteId, epochs } = this.request
    const tier: Tier = head.renderer === 'static' ? 'file' : 'page'
    const { status, reason, headers, renderer } = head
    // A copy: a chunk is a part of what was read from the socket, and would keep all of it.
    const body = Buffer.concat(this.#chunks ?? [])
    // biome-ignore format: one record
    return createEntry({ key, path, siteId, tier, epoch: epochs[tier], status, reason, headers, renderer, body, lifetime, nowMs: performance.now() })
  }

  onResponseError(_controller: Controller, error: NodeJS.ErrnoException): void {
    this.#controller = undefined
    const mayRetry = !this.#retried && !this.#started && BROKEN_CONNECTION.has(error.code ?? '')
    if (mayRetry && this.#isWanted) {
      this.#retried = true
      const client = this.#upstreams.fresh(this.request.upstream)
      this.#dispatch(client)
      client.close().catch(() => {})
      return
    }
    this.#settle({ kind: 'failed', error })
    this.leader?.failed(error)
  }
}

/** The host says that the entry still holds: its time begins anew. */
function renewed(entry: Entry, lifetime: Lifetime | string): Entry {
  if (typeof lifetime !== 'string') entry.lifetime = lifetime
  entry.madeAtMs = performance.now()
  return entry
}

function lengthOf(headers: readonly string[]): number {
  for (let i = 0; i < headers.length; i += 2)
    if ((headers[i] as string).toLowerCase() === 'content-length') return Number(headers[i + 1])
  return 0
}
