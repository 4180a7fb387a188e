import type { Dispatcher } from 'undici'
import { addressKey } from '../platform/budgets/address-key.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import { plainPage } from '../platform/plain-page.ts'
import { pageAnswer, sendAnswer } from './answer.ts'
import { bodyMoves } from './body-gate.ts'
import { requestHeaders, responseHeaders } from './forwarding.ts'
import type { Route } from './route.ts'
import { siteHeaders } from './site-headers.ts'
import { busyAnswer, type Passage, type UnderWay } from './under-way.ts'
import type { Upstreams } from './upstreams.ts'
import { type Answer, hasBody, type Visit, type VisitRequest } from './visit.ts'

/** What passing requests on needs. */
export interface ProxyContext {
  readonly upstreams: Upstreams
  readonly hostKey: string
  readonly stagingDomain: string
  readonly underWay: UnderWay
  /** What has come of bodies whose senders are not seen to send them yet. */
  readonly waitingBodies?: Budget | undefined
  /** Told of every request that the host did not answer. */
  readonly onFailure: (visit: Visit, route: Route, error: Error) => void
  /** Waits until the purge with this number counts on this edge. */
  readonly reachPurge?: ((seq: number) => Promise<void>) | undefined
}

/** Passes a visit on to the host of its site and the answer back, streaming both ways. A body is waited for before. */
export function passToHost(visit: Visit, route: Route, context: ProxyContext): Promise<void> | undefined {
  if (hasBody(visit.request)) return passWithBody(visit, route, context)
  beginExchange(visit, route, context)
}

async function passWithBody(visit: Visit, route: Route, context: ProxyContext): Promise<void> {
  const memory = context.waitingBodies?.share(addressKey(visit.client.address))
  if (await bodyMoves(visit, memory)) beginExchange(visit, route, context)
}

function beginExchange(visit: Visit, route: Route, context: ProxyContext): void {
  const passage = context.underWay.begin(route.siteId, visit)
  if (!passage) {
    sendAnswer(visit, busyAnswer(visit))
    discardRest(visit.request)
    return
  }
  visit.release = () => passage.end()
  const exchange = new Exchange(visit, route, context, passage)
  visit.abandon = () => exchange.abandon()
  exchange.dispatch(context.upstreams.pool(route.upstream))
}

const unreachable = plainPage({
  status: 502,
  title: 'This site cannot be reached right now',
  text: 'The server that keeps it does not answer. Please try again in a moment.',
})
const tooSlow = plainPage({
  status: 504,
  title: 'This site took too long to answer',
  text: 'Please try again in a moment.',
})
const malformed = plainPage({
  status: 400,
  title: 'This request cannot be understood',
  text: 'The address or a header holds characters that are not allowed there.',
})

/** The connection went away under the request: worth a second try on a new one. */
const BROKEN_CONNECTION = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

type Controller = Dispatcher.DispatchController & { rawHeaders?: Buffer[] }

/** One request on its way to the host and back. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly visit: Visit
  private readonly route: Route
  private readonly context: ProxyContext
  private readonly passage: Passage
  private readonly body: boolean
  private controller: Controller | undefined
  private abandoned = false
  private answered = false
  private retried = false
  private waiting = false
  /** While it is there, nothing of the response goes to the visitor: what is to be done then, in order. */
  private held: (() => void)[] | undefined

  constructor(visit: Visit, route: Route, context: ProxyContext, passage: Passage) {
    this.visit = visit
    this.route = route
    this.context = context
    this.passage = passage
    this.body = hasBody(visit.request)
  }

  dispatch(dispatcher: Dispatcher): void {
    const { visit } = this
    dispatcher.dispatch(
      {
        path: visit.target,
        method: visit.method,
        headers: requestHeaders(visit, this.route.siteId, this.context.hostKey),
        body: this.body ? (readBody(visit, this.passage) as never) : null,
        // undici would close the connection after every HEAD; our hosts send no body there.
        reset: false,
      },
      this,
    )
  }

  /** The visitor has gone: so does the request to the host, that PHP need not go on for nobody. */
  abandon(): void {
    this.abandoned = true
    this.controller?.abort(new Error('visitor has gone'))
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.abandoned) controller.abort(new Error('visitor has gone'))
  }

  onResponseStarted(): void {
    this.answered = true
  }

  onResponseStart(controller: Controller, status: number, _headers: unknown, reason = ''): void {
    if (status < 200 || this.abandoned) return
    const { visit } = this
    const { headers, notes, contentType } = responseHeaders(controller.rawHeaders ?? [], {
      hostName: visit.hostName,
      stagingDomain: this.context.stagingDomain,
    })
    visit.outcome.renderer = notes.renderer
    visit.outcome.contentType = contentType
    if (visit.observers) for (const observer of visit.observers) observer.head?.(status, headers, notes)
    headers.push('X-Request-Id', visit.id, ...siteHeaders(visit))
    if (notes.purgeSeq > 0 && this.context.reachPurge) this.hold(this.context.reachPurge(notes.purgeSeq), controller)
    this.whenFree(() => visit.response.writeHead(status, reason, headers))
  }

  /** Who has changed a page is not told so before this edge has let go of the old one. */
  private hold(until: Promise<void>, controller: Controller): void {
    controller.pause()
    const acts: (() => void)[] = []
    this.held = acts
    until.then(() => {
      this.held = undefined
      if (!this.visit.response.destroyed) for (const act of acts) act()
      controller.resume()
    })
  }

  private whenFree(act: () => void): void {
    if (this.held) this.held.push(act)
    else act()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.abandoned) return
    if (this.held) this.held.push(() => this.sendData(controller, chunk))
    else this.sendData(controller, chunk)
  }

  private sendData(controller: Controller, chunk: Buffer): void {
    const { visit } = this
    visit.outcome.sentBytes += chunk.length
    if (visit.observers) for (const observer of visit.observers) observer.data?.(chunk)
    if (visit.response.write(chunk) || this.waiting) return
    this.waiting = true
    this.passage.waitsToBeTaken()
    controller.pause()
    visit.response.once('drain', () => {
      this.waiting = false
      this.passage.goesOn(chunk.length)
      controller.resume()
    })
  }

  onResponseEnd(): void {
    const { visit } = this
    visit.abandon = undefined
    if (visit.observers) for (const observer of visit.observers) observer.end?.()
    this.whenFree(() => visit.response.end())
  }

  onResponseError(_controller: Controller, error: NodeJS.ErrnoException): void {
    const { visit } = this
    this.controller = undefined
    if (!this.abandoned && this.mayRetry(error)) {
      this.retryOnFreshConnection()
      return
    }
    visit.abandon = undefined
    if (visit.observers) for (const observer of visit.observers) observer.abort?.()
    if (this.abandoned) return
    this.context.onFailure(visit, this.route, error)
    // A response cut off in the middle must not look complete: without its end the visitor's client can tell.
    if (visit.response.headersSent) visit.response.destroy()
    else sendAnswer(visit, failureAnswer(visit, error))
  }

  private mayRetry(error: NodeJS.ErrnoException): boolean {
    if (this.retried || this.answered || this.body || !BROKEN_CONNECTION.has(error.code ?? '')) return false
    return /^(?:GET|HEAD|OPTIONS)$/.test(this.visit.method)
  }

  /** A new connection, because the pooled ones may all be as stale as the one that just broke. */
  private retryOnFreshConnection(): void {
    this.retried = true
    const client = this.context.upstreams.fresh(this.route.upstream)
    this.dispatch(client)
    client.close().catch(() => {})
  }
}

/** What a visitor is told when the host does not answer. */
export const failureAnswer = (visit: Visit, error: NodeJS.ErrnoException): Answer => pageAnswer(visit, pageFor(error))

/** The host had its time: a second try would take as long. */
export const isTimeout = (error: NodeJS.ErrnoException): boolean => TIMEOUTS.has(error.code ?? '')

function pageFor(error: NodeJS.ErrnoException) {
  const code = error.code ?? ''
  if (TIMEOUTS.has(code)) return tooSlow
  return code === 'UND_ERR_INVALID_ARG' ? malformed : unreachable
}

/**
 * The request's body for undici. An iterator instead of the stream itself: undici destroys a stream when the host answers early
 * (413), and with it the visitor's connection before the answer is out. What is left of the body is then read and
 * dropped, so that a client that sends everything before it reads gets its answer.
 */
async function* readBody({ request }: Visit, passage: Passage): AsyncGenerator<Buffer> {
  try {
    passage.waitsToBeSent()
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      passage.goesOn(chunk.length)
      // what the host does not take is not the visitor's fault
      yield chunk as Buffer
      passage.waitsToBeSent()
    }
  } finally {
    passage.goesOn(0)
    discardRest(request)
  }
}

function discardRest(request: VisitRequest): void {
  if (!request.complete && !request.destroyed) request.resume()
}
