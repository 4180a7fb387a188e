import type { Share } from '../../../platform/budgets/budget.ts'
import type { InFlightRequest } from '../../gateway/in-flight.ts'
import { HostError, isBroken } from '../../host-client/host-error.ts'
import type { AnswerListener, ExchangeControl, HostRequest } from '../../host-client/host-exchange.ts'
import { isElsewhere, responseHeaders } from '../../proxy/forwarding.ts'
import type { Upstreams } from '../../proxy/upstreams.ts'
import type { HostNotes } from '../../visit.ts'
import { type Lifetime, lifetimeOf } from '../decide/lifetime.ts'
import { createEntry, type Entry } from '../store/entry.ts'
import { type OriginHead, type OriginRequest, readHead } from './origin-head.ts'
import { isAbout, revalidatedEntry, updatedHeaders } from './revalidation.ts'

/** The visitor whose request is forwarded, and who gets the answer as it arrives. */
export interface FetchLeader {
  /** Returns whether this variant is the visitor's own, if the address turns out to have several. */
  isOwn(head: OriginHead): boolean
  /** @returns false when it rejects this answer and asks the host itself */
  head(head: OriginHead): boolean
  /** @returns false when it cannot take more for now; `resume` is called when it can */
  data(chunk: Buffer, resume: () => void): boolean
  end(): void
  /** Called instead of `head` and what follows: the host confirmed the entry. */
  renewed(entry: Entry): void
  /**
   * Called instead of `head`: the host confirmed the entry, but not for everyone. The visit goes to the host itself.
   */
  declined(): void
  /** Called instead of `data` and `end`: the rest is in a stored entry. */
  endFrom(entry: Entry, rest: Buffer): void
  /** Called after `head` when the answer breaks off, and before it when the host does not answer. */
  failed(error: Error): void
}

/** The result of a fetch, for visits that waited for it. */
export type OriginFetchResult =
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** One of several variants, but of none that a waiting visitor asked for. */
  | { readonly kind: 'varies' }
  /** Nobody else can get this answer. */
  | { readonly kind: 'uncacheable'; readonly reason: string }
  /** The cache has no memory for it now. */
  | { readonly kind: 'crowded' }
  /** The host failed (no answer, or 5xx). */
  | { readonly kind: 'failed'; readonly error?: Error }

/** What a fetch needs from its caller. */
export interface OriginFetchOptions {
  readonly leader: FetchLeader | undefined
  /** Continues though nobody waits for it. */
  readonly isBackground: boolean
  readonly mostBytes: number
  /** Counts the body until it becomes an entry. */
  readonly share: Share
  /** Makes room for this many more bytes of the body among the entries. @returns false when there is none */
  readonly makeRoom: (bytes: number) => boolean
  /** Called with the vary key of the address, before the leader gets the head. */
  readonly onVaryKey: (by: readonly string[]) => void
  /** Notified when the host has to wait for the leader. */
  readonly inFlightRequest: InFlightRequest
  /** Takes over the entry. @returns false when it does not fit */
  readonly keep: (entry: Entry) => boolean
}

/** The overhead of a piece of a body: a host may send single bytes. */
const PIECE_BYTES = 256

/**
 * A GET request to the host whose answer may be stored. It outlives its visitor as long as another one waits for it.
 * The body is collected within a budget. Beyond it, the answer is only passed on, at the visitor's pace.
 */
export class OriginFetch implements AnswerListener {
  readonly request: OriginRequest
  leader: FetchLeader | undefined
  /** A purge arrived during the fetch, so its answer predates it. */
  isDoomed = false
  /** Patterns of purges that arrived during the fetch. */
  readonly purged: string[] = []
  waiters = 0
  readonly result: Promise<OriginFetchResult>
  /** Resolves when all its work has ended. */
  readonly ended: Promise<void>
  readonly #options: OriginFetchOptions
  readonly #settle: (result: OriginFetchResult) => void
  readonly #finish: () => void
  readonly #upstreams: Upstreams
  #control: ExchangeControl | undefined
  #isCollecting = true
  /** All pieces while collecting, later only those that the leader has not taken. */
  #pieces: Buffer[] = []
  /** How many of the pieces the leader has. */
  #taken = 0
  #leaderBytes = 0
  #leaderWaits = false
  #isWhole = false
  #bytes = 0
  #head: OriginHead | undefined
  #retried = false
  #started = false

  constructor(request: OriginRequest, upstreams: Upstreams, options: OriginFetchOptions) {
    this.request = request
    this.leader = options.leader
    this.#options = options
    this.#upstreams = upstreams
    const result = Promise.withResolvers<OriginFetchResult>()
    this.result = result.promise
    this.#settle = result.resolve
    const ended = Promise.withResolvers<void>()
    this.ended = ended.promise
    this.#finish = ended.resolve
  }

  start(): void {
    this.#control = this.#upstreams.ask(this.request.upstream, this.#hostRequest, this)
  }

  /** Called when the visitor leaves. */
  leave(): void {
    this.leader = undefined
    if (!this.#isCollecting) this.#dropPieces()
    if (this.#isWhole) return
    if (this.#isWanted) this.#control?.resume()
    else this.#control?.abort()
  }

  /** Called when a waiting visitor leaves. */
  leaveWaiting(): void {
    this.waiters--
    if (!this.#isWanted) this.#control?.abort()
  }

  /** Whether a visitor waits, or the answer is already on its way into the cache. */
  get #isWanted(): boolean {
    const isKept = this.#head !== undefined && this.#isCollecting
    return this.#options.isBackground || this.leader !== undefined || this.waiters > 0 || isKept
  }

  get #hostRequest(): HostRequest {
    const { target, headers } = this.request
    return { path: target, method: 'GET', headers }
  }

  onFirstBytes(): void {
    this.#started = true
  }

  onHead(status: number, reason: string, raw: string[]): void {
    if (isElsewhere(status, raw)) {
      this.#failElsewhere()
      return
    }
    const read = responseHeaders(raw, this.request.domains)
    const { stale } = this.request
    if (status === 304 && stale) {
      this.#renew(stale, read.headers, read.notes)
      return
    }
    this.#head = readHead(this.request, { status, reason, raw, mostBytes: this.#options.mostBytes }, read)
    const { lifetime, varyKey } = this.#head
    if (typeof lifetime !== 'string' && varyKey.by.length > 0) this.#options.onVaryKey(varyKey.by)
    if (typeof lifetime === 'string')
      this.#stopCollecting(status >= 500 ? { kind: 'failed' } : { kind: 'uncacheable', reason: lifetime })
    else if (this.#head.key !== this.request.key && !this.leader?.isOwn(this.#head))
      this.#stopCollecting({ kind: 'varies' })
    if (this.leader && !this.leader.head(this.#head)) this.leader = undefined
    if (!this.leader && !this.#isCollecting) this.#control?.abort()
  }

  /** The visitor's own request follows the site. Others that wait do the same. */
  #failElsewhere(): void {
    const { leader } = this
    this.leader = undefined
    this.#stopCollecting({ kind: 'failed', error: new HostError('HOST_ELSEWHERE', 'the site is elsewhere') })
    leader?.declined()
    this.#control?.abort()
  }

  /** Renews the stored entry, which the host confirmed, with the headers that the host sends now. */
  #renew(stale: Entry, told: readonly string[], { isPrivate, isBrief, shows }: HostNotes): void {
    const { leader } = this
    this.leader = undefined
    const headers = updatedHeaders(stale, told)
    const facts = { status: stale.status, headers, tier: stale.tier, isPrivate, isBrief }
    const lifetime = isAbout(stale, told) ? lifetimeOf(facts, Date.now()) : 'validator'
    if (typeof lifetime === 'string') {
      this.#stopCollecting({ kind: 'uncacheable', reason: lifetime })
      leader?.declined()
      return
    }
    const epoch = this.request.epochs[stale.tier]
    const entry = revalidatedEntry(stale, {
      headers,
      lifetime,
      epoch,
      nowMs: performance.now(),
      ...(shows && { shows }),
    })
    this.#isCollecting = false
    this.#options.keep(entry)
    this.#settle({ kind: 'entry', entry })
    leader?.renewed(entry)
  }

  onData(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#isCollecting) this.#count(piece.length)
    if (!this.leader && !this.#isCollecting) {
      this.#control?.abort()
      return
    }
    this.#pieces.push(piece)
    if (!this.#leaderWaits) this.#feed()
    // A slow visitor does not hold up a page that others wait for, as long as there is room for it.
    if (!this.#leaderWaits || this.#isCollecting) return
    this.#options.inFlightRequest.waitsToBeTaken()
    this.#control?.pause()
  }

  #count(bytes: number): void {
    if (this.#bytes > this.#options.mostBytes) this.#stopCollecting({ kind: 'uncacheable', reason: 'size' })
    else if (!this.#options.makeRoom(bytes + PIECE_BYTES) || !this.#options.share.take(bytes + PIECE_BYTES))
      this.#stopCollecting({ kind: 'crowded' })
  }

  /** Continues for the leader alone. */
  #stopCollecting(result: OriginFetchResult): void {
    this.#isCollecting = false
    for (const piece of this.#pieces.splice(0, this.#taken)) this.#giveBack(piece)
    this.#taken = 0
    this.#settle(result)
  }

  #giveBack(piece: Buffer): void {
    this.#options.share.give(piece.length + PIECE_BYTES)
  }

  #dropPieces(): void {
    this.#pieces = []
    this.#taken = 0
    this.#options.share.free()
  }

  /** Passes pieces to the leader as fast as it takes them. */
  #feed = (): void => {
    this.#leaderWaits = false
    this.#options.inFlightRequest.goesOn(this.#pieces[0]?.length ?? 0)
    while (this.leader && this.#taken < this.#pieces.length) {
      const piece = this.#pieces[this.#taken] as Buffer
      if (this.#isCollecting) this.#taken++
      else {
        this.#pieces.shift()
        this.#giveBack(piece)
      }
      this.#leaderBytes += piece.length
      if (this.leader.data(piece, this.#feed)) continue
      this.#leaderWaits = true
      return
    }
    if (this.#isWhole) this.leader?.end()
    else this.#control?.resume()
  }

  onEnd(): void {
    const head = this.#head
    this.#control = undefined
    this.#isWhole = true
    if (head && this.#isCollecting && typeof head.lifetime !== 'string') this.#toEntry(head, head.lifetime)
    else if (!this.#leaderWaits) this.leader?.end()
    this.#finish()
  }

  #toEntry(head: OriginHead, lifetime: Lifetime): void {
    const entry = this.#entry(head, lifetime)
    const { share } = this.#options
    const counted = share.amount
    // Two copies exist at this moment, and one of them is about to go.
    share.free()
    if (this.#options.keep(entry)) {
      this.#settle({ kind: 'entry', entry })
      this.leader?.endFrom(entry, (entry.bodies[0] as Buffer).subarray(this.#leaderBytes))
      this.#dropPieces()
      return
    }
    share.take(counted)
    this.#stopCollecting({ kind: 'crowded' })
    if (!this.leader) this.#dropPieces()
    else if (!this.#leaderWaits) this.leader.end()
  }

  #entry(head: OriginHead, lifetime: Lifetime): Entry {
    const { address, path, siteId, epochs } = this.request
    const { key, varyKey, status, reason, headers, renderer, tier, shows } = head
    const variantOf = key === address ? undefined : address
    // A copy, because a piece is a slice of what was read from the socket and would retain all of it.
    const body = Buffer.concat(this.#pieces)
    // biome-ignore format: one record
    return createEntry({ key, variantOf, varyKey, path, shows, siteId, tier, epoch: epochs[tier], status, reason, headers, renderer, body, lifetime, nowMs: performance.now() })
  }

  onError(error: NodeJS.ErrnoException): void {
    this.#control = undefined
    const mayRetry = !this.#retried && !this.#started && isBroken(error)
    if (mayRetry && this.#isWanted) {
      this.#retried = true
      this.#control = this.#upstreams.askAnew(this.request.upstream, this.#hostRequest, this)
      return
    }
    this.#isWhole = true
    this.#dropPieces()
    this.#settle({ kind: 'failed', error })
    this.#finish()
    this.leader?.failed(error)
  }
}
