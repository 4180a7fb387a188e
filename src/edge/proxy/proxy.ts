import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Budget } from '../../platform/budgets/budget.ts'
import { plainPage } from '../../platform/plain-page.ts'
import { bodyMoves } from '../gateway/body-gate.ts'
import { BodyPace, type PaceLimits } from '../gateway/body-pace.ts'
import { busyAnswer, type InFlightLimiter, type InFlightRequest } from '../gateway/in-flight.ts'
import { HostError, isBroken } from '../host-client/host-error.ts'
import type { AnswerListener, ExchangeControl, HostRequest } from '../host-client/host-exchange.ts'
import { pageAnswer, sendAnswer } from '../page-answer.ts'
import type { Route } from '../routing/route.ts'
import { type Answer, hasBody, type Visit } from '../visit.ts'
import type { VisitRequest } from '../visit-request.ts'
import { isElsewhere, requestHeaders, responseHeaders } from './forwarding.ts'
import { siteHeaders } from './site-headers.ts'
import type { Upstreams } from './upstreams.ts'

/** What forwarding requests needs. */
export interface ProxyContext {
  readonly upstreams: Upstreams
  readonly hostKey: string
  readonly stagingDomain: string
  readonly inFlight: InFlightLimiter
  /** Bytes of bodies that wait for their senders. */
  readonly waitingBodies?: Budget | undefined
  /** How slowly a body may arrive. Without it, as slowly as it likes. */
  readonly bodyPace?: PaceLimits
  /** Called for every request that the host did not answer. */
  readonly onFailure: (visit: Visit, route: Route, error: Error) => void
  /** Waits until the purge with this number counts on this edge. */
  readonly reachPurge?: ((seq: number) => Promise<void>) | undefined
  /** Looks a route up again, because its host says that the site is elsewhere. */
  readonly lookAgain?: ((hostName: string) => Promise<Route | undefined>) | undefined
}

/** Forwards a visit to its site's host and the answer back, streaming both ways. Waits for the body first. */
export function passToHost(visit: Visit, route: Route, context: ProxyContext): Promise<void> | undefined {
  if (hasBody(visit.request)) return passWithBody(visit, route, context)
  beginExchange(visit, route, context)
}

async function passWithBody(visit: Visit, route: Route, context: ProxyContext): Promise<void> {
  const memory = context.waitingBodies?.share(addressKey(visit.client.address))
  const pace = context.bodyPace && new BodyPace(context.bodyPace, () => endTooSlow(visit))
  visit.response.once('close', () => pace?.end())
  if (await bodyMoves(visit, memory, pace)) beginExchange(visit, route, context, pace)
}

/** Answers 408, and ends what has started. */
function endTooSlow(visit: Visit): void {
  visit.abandon?.()
  if (visit.response.headersSent) visit.response.destroy()
  else sendAnswer(visit, pageAnswer(visit, slowBody, [], true))
}

function beginExchange(visit: Visit, route: Route, context: ProxyContext, pace?: BodyPace): void {
  const inFlightRequest = context.inFlight.begin(route.siteId, visit)
  if (!inFlightRequest) {
    if (visit.observers) for (const observer of visit.observers) observer.abort?.()
    sendAnswer(visit, busyAnswer(visit))
    discardRest(visit.request)
    return
  }
  visit.release = () => inFlightRequest.end()
  const exchange = new Exchange(visit, route, context, inFlightRequest, pace)
  visit.abandon = () => exchange.abandon()
  exchange.start()
}

const slowBody = plainPage({
  status: 408,
  title: 'This request took too long',
  text: 'Your request arrives too slowly, or has stopped. Please check your connection, and try again.',
})
const unreachable = plainPage({
  status: 502,
  title: 'This site cannot be reached right now',
  text: 'Its server does not respond. Please try again in a moment.',
})
const silent = plainPage({
  status: 503,
  title: 'This site cannot be reached right now',
  text: 'Its server does not respond. Please try again in a moment.',
})
const tooSlow = plainPage({
  status: 504,
  title: 'This site took too long to answer',
  text: 'Please try again in a moment.',
})
const malformed = plainPage({
  status: 400,
  title: 'This request cannot be understood',
  text: 'The address or a header contains characters that are not allowed.',
})

/** The host does not answer anyone, or is not the one of the site. */
const NOT_NOW = new Set(['HOST_SILENT', 'HOST_ELSEWHERE'])
const TIMEOUTS = new Set(['HOST_HEAD_TIMEOUT', 'HOST_BODY_TIMEOUT'])

/** One request on its way to the host and back. */
class Exchange implements AnswerListener {
  private readonly visit: Visit
  private route: Route
  private readonly context: ProxyContext
  private readonly inFlightRequest: InFlightRequest
  private readonly body: boolean
  private readonly pace: BodyPace | undefined
  private control: ExchangeControl | undefined
  private abandoned = false
  private answered = false
  private retried = false
  private isElsewhere = false
  private looked = false
  private waiting = false
  /** Sent together with the end. */
  private last: Buffer | undefined
  /** While set, nothing of the response goes to the visitor: the postponed actions, in order. */
  private held: (() => void)[] | undefined

  constructor(visit: Visit, route: Route, context: ProxyContext, inFlightRequest: InFlightRequest, pace?: BodyPace) {
    this.visit = visit
    this.route = route
    this.context = context
    this.inFlightRequest = inFlightRequest
    this.pace = pace
    this.body = hasBody(visit.request)
  }

  start(): void {
    const { upstreams } = this.context
    this.control = upstreams.ask(this.route.upstream, this.hostRequest(), this)
  }

  private hostRequest(): HostRequest {
    const { visit } = this
    return {
      path: visit.target,
      method: visit.method,
      headers: requestHeaders(visit, this.route, this.context.hostKey),
      body: this.body ? readBody(visit, this.inFlightRequest, this.pace) : undefined,
    }
  }

  /** Cancels the request to the host when the visitor has left, so that PHP does not work for nothing. */
  abandon(): void {
    this.abandoned = true
    this.control?.abort()
  }

  onFirstBytes(): void {
    this.answered = true
  }

  onHead(status: number, reason: string, raw: string[]): void {
    const { visit } = this
    if (isElsewhere(status, raw)) {
      this.isElsewhere = true
      this.control?.abort()
      return
    }
    const { headers, notes, contentType } = responseHeaders(raw, {
      hostName: visit.hostName,
      stagingDomain: this.context.stagingDomain,
    })
    visit.outcome.renderer = notes.renderer
    visit.outcome.contentType = contentType
    if (visit.observers) for (const observer of visit.observers) observer.head?.(status, headers, notes)
    headers.push('X-Request-Id', visit.id, ...siteHeaders(visit))
    if (notes.purgeSeq > 0 && this.context.reachPurge) this.hold(this.context.reachPurge(notes.purgeSeq))
    this.whenFree(() => visit.response.writeHead(status, reason, headers))
  }

  /** Holds the response until the purge is applied here. */
  private hold(until: Promise<void>): void {
    this.control?.pause()
    const acts: (() => void)[] = []
    this.held = acts
    until.then(() => {
      this.held = undefined
      if (!this.visit.response.destroyed) for (const act of acts) act()
      if (!this.waiting) this.control?.resume()
    })
  }

  private whenFree(act: () => void): void {
    if (this.held) this.held.push(act)
    else act()
  }

  onData(chunk: Buffer, isLast: boolean): void {
    if (isLast) this.last = chunk
    else if (this.held) this.held.push(() => this.sendData(chunk))
    else this.sendData(chunk)
  }

  private tellData(chunk: Buffer): void {
    const { visit } = this
    visit.outcome.sentBytes += chunk.length
    if (visit.observers) for (const observer of visit.observers) observer.data?.(chunk)
  }

  private sendData(chunk: Buffer): void {
    const { visit } = this
    this.tellData(chunk)
    if (visit.response.write(chunk) || this.waiting) return
    this.waiting = true
    this.inFlightRequest.waitsToBeTaken()
    this.control?.pause()
    visit.response.once('drain', () => {
      this.waiting = false
      this.inFlightRequest.goesOn(chunk.length)
      this.control?.resume()
    })
  }

  onEnd(): void {
    const { visit, last } = this
    visit.abandon = undefined
    if (last) this.tellData(last)
    if (visit.observers) for (const observer of visit.observers) observer.end?.()
    this.whenFree(() => this.sendEnd(last))
  }

  private sendEnd(last: Buffer | undefined): void {
    const { response } = this.visit
    if (last) response.end(last)
    else response.end()
    if (response.writableLength > 0) this.inFlightRequest.waitsToBeTaken()
  }

  onError(error: NodeJS.ErrnoException): void {
    const { visit } = this
    this.control = undefined
    if (this.isElsewhere && !this.abandoned) {
      void this.followSite()
      return
    }
    if (!this.abandoned && this.mayRetry(error)) {
      this.retryOnFreshConnection()
      return
    }
    visit.abandon = undefined
    if (visit.observers) for (const observer of visit.observers) observer.abort?.()
    if (this.abandoned) return
    this.context.onFailure(visit, this.route, error)
    // A truncated response must not look complete. Without its end, the visitor's client notices.
    if (visit.response.headersSent) visit.response.destroy()
    else sendAnswer(visit, failureAnswer(visit, error))
  }

  /** Sends a request without a body once more, to the host that has the site now. Otherwise, the visitor must retry. */
  private async followSite(): Promise<void> {
    const { visit, context } = this
    this.isElsewhere = false
    const wasLooked = this.looked
    this.looked = true
    const found = wasLooked ? undefined : await context.lookAgain?.(visit.hostName).catch(() => undefined)
    if (this.abandoned || visit.response.destroyed) return
    if (!found || this.body || found.siteId !== this.route.siteId || isSamePlace(found, this.route)) {
      this.onError(new HostError('HOST_ELSEWHERE', 'the host says that the site is elsewhere'))
      return
    }
    visit.route = found
    this.route = found
    this.start()
  }

  private mayRetry(error: NodeJS.ErrnoException): boolean {
    if (this.retried || this.answered || this.body || !isBroken(error)) return false
    return /^(?:GET|HEAD|OPTIONS)$/.test(this.visit.method)
  }

  /** Uses a new connection, because the pooled ones may all be as stale as the one that just broke. */
  private retryOnFreshConnection(): void {
    this.retried = true
    this.control = this.context.upstreams.askAnew(this.route.upstream, this.hostRequest(), this)
  }
}

const isSamePlace = (a: Route, b: Route): boolean => a.upstream === b.upstream && a.place === b.place

/** Returns the answer for a visitor when the host does not answer. */
export const failureAnswer = (visit: Visit, error: NodeJS.ErrnoException): Answer =>
  NOT_NOW.has(error.code ?? '') ? pageAnswer(visit, silent, ['Retry-After', '2']) : pageAnswer(visit, pageFor(error))

/** Returns whether the host used up its time, so that a second try would take as long. */
export const isTimeout = (error: NodeJS.ErrnoException): boolean => TIMEOUTS.has(error.code ?? '')

function pageFor(error: NodeJS.ErrnoException) {
  const code = error.code ?? ''
  if (TIMEOUTS.has(code)) return tooSlow
  return code === 'HOST_BAD_REQUEST' ? malformed : unreachable
}

/**
 * Yields the request's body. When the host answers early (413), the rest is read and dropped, so that a client that
 * sends everything before it reads gets its answer.
 */
async function* readBody(
  { request }: Visit,
  inFlightRequest: InFlightRequest,
  pace?: BodyPace,
): AsyncGenerator<Buffer> {
  try {
    inFlightRequest.waitsToBeSent()
    pace?.waits()
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      inFlightRequest.goesOn(chunk.length)
      pace?.came(chunk.length)
      // A host that does not read is not the visitor's fault.
      yield chunk as Buffer
      inFlightRequest.waitsToBeSent()
      pace?.waits()
    }
  } finally {
    inFlightRequest.goesOn(0)
    pace?.end()
    discardRest(request)
  }
}

function discardRest(request: VisitRequest): void {
  if (!request.complete && !request.destroyed) request.resume()
}
