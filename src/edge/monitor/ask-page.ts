import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'
import { defaultLimits } from '../edge-limits.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { LOOK_HEADER, type MonitorLook } from '../proxy/forwarding.ts'
import { createUpstreams, type Upstreams } from '../proxy/upstreams.ts'
import { type HostAnswer, QUESTION_MS } from './finding.ts'

/** The page to ask for. */
export interface AskedPage {
  readonly scheme: 'http' | 'https'
  /** Host name, with the port that visitors write. */
  readonly host: string
  readonly look: MonitorLook
}

/** Asks the own edge for front pages. */
export interface PageAsker {
  /** Never rejects. */
  ask(page: AskedPage): Promise<HostAnswer>
  /** Ends questions without an answer within their time. Call it about once a second. */
  look(): void
  close(): Promise<void>
}

/** The own edge, in two ways. */
export interface AskedEdge {
  /** The listener without TLS: `http://127.0.0.1:80`. */
  readonly url: string
  /** Answers without a connection. Without it, all questions pass the listener. */
  readonly gateway?: Pick<Gateway, 'ask'> | undefined
  /** With which questions prove that Stead asks. */
  readonly key: string
}

/** The cookie of a person who is logged in: page caches of plugins pass such requests on. WordPress ignores its name. */
const PAST_CACHES = ['cookie', 'wordpress_logged_in_stead=1']
const USER_AGENT = 'Stead-Monitor/1 (uptime bot)'
/** What a page may send. The rest of a larger one does not matter. */
const MOST_BYTES = 4 << 20
const CONNECTIONS = 256
/** For so long after an answer, the listener is known to work. */
const LISTENER_MS = 5_000

interface Question {
  readonly sinceMs: number
  end(): void
}

/**
 * Creates an asker. Light questions go to the gateway without a connection, while the others show that the listener
 * works. Connections to the listener are kept. Their first bytes prove that Stead asks, so that nothing counts as a
 * visit (`proxy-protocol.ts`).
 * @param now monotonic milliseconds
 */
export function createPageAsker({ url, gateway, key }: AskedEdge, now = () => performance.now()): PageAsker {
  const limits = { ...defaultLimits.upstream, connections: CONNECTIONS, responseTimeoutMs: QUESTION_MS }
  const upstreams = (scheme: AskedPage['scheme']) =>
    createUpstreams({ ...limits, greeting: siteHeader(key, scheme, 'every') }, async () => true)
  const by: Record<AskedPage['scheme'], Upstreams> = { http: upstreams('http'), https: upstreams('https') }
  const asked = new Set<Question>()
  /** When the listener answered last. */
  let listenerAtMs = Number.NEGATIVE_INFINITY
  const throughListener = ({ scheme, host, look }: AskedPage, sinceMs: number, answered: (is: HostAnswer) => void) => {
    let head = { status: 0, location: undefined as string | undefined }
    let bytes = 0
    const done = () => {
      listenerAtMs = now()
      answered({ ...head, ms: listenerAtMs - sinceMs })
    }
    const control = by[scheme].ask(url, requestFor(host, look), {
      onFirstBytes() {},
      onHead(status, _reason, raw) {
        head = { status, location: locationIn(raw) }
      },
      onData(piece) {
        bytes += piece.length
        if (bytes < MOST_BYTES) return
        done()
        control.abort()
      },
      onEnd: done,
      onError(error) {
        listenerAtMs = Number.NEGATIVE_INFINITY
        answered({ code: error.code ?? error.name })
      },
    })
    return () => control.abort()
  }
  const withoutConnection = (
    { ask }: Pick<Gateway, 'ask'>,
    { scheme, host, look }: AskedPage,
    sinceMs: number,
    answered: (is: HostAnswer) => void,
  ) =>
    ask({ scheme, path: '/', headers: headersFor(host, look) }, (answer) =>
      answered(answer ? { ...answer, ms: now() - sinceMs } : { code: 'HOST_ABORTED' }),
    )
  return {
    ask: (page) =>
      new Promise((resolve) => {
        const sinceMs = now()
        const question: Question = { sinceMs, end: () => end() }
        const answered = (answer: HostAnswer) => {
          asked.delete(question)
          resolve(answer)
        }
        asked.add(question)
        const isShort = gateway && page.look === 'light' && sinceMs - listenerAtMs < LISTENER_MS
        const end = isShort
          ? withoutConnection(gateway, page, sinceMs, answered)
          : throughListener(page, sinceMs, answered)
      }),
    look() {
      const before = now() - QUESTION_MS
      for (const each of asked) if (each.sinceMs < before) each.end()
    },
    async close() {
      await Promise.all([by.http.destroy(), by.https.destroy()])
      for (const each of asked) each.end()
    },
  }
}

const requestFor = (host: string, look: MonitorLook) => ({
  // For a cached page, the head says as much as the body, and costs less.
  method: look === 'light' ? 'HEAD' : 'GET',
  path: '/',
  headers: [...headersFor(host, look), ...(look === 'light' ? [] : PAST_CACHES)],
})

const headersFor = (host: string, look: MonitorLook): string[] => [
  ...['host', host, 'user-agent', USER_AGENT, 'accept', 'text/html', 'accept-encoding', 'gzip', LOOK_HEADER, look],
]

function locationIn(raw: readonly string[]): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if ((raw[i] as string).toLowerCase() === 'location') return raw[i + 1]
}
