import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'
import { defaultLimits } from '../edge-limits.ts'
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

/** The cookie of a person who is logged in: page caches of plugins pass such requests on. WordPress ignores its name. */
const PAST_CACHES = ['cookie', 'wordpress_logged_in_stead=1']
const USER_AGENT = 'Stead-Monitor/1 (uptime bot)'
/** What a page may send. The rest of a larger one does not matter. */
const MOST_BYTES = 4 << 20
const CONNECTIONS = 256

/**
 * Creates an asker with kept connections to the own listener. Their first bytes prove that Stead asks, so that nothing
 * counts as a visit (`proxy-protocol.ts`).
 * @param edge the listener without TLS: `http://127.0.0.1:80`
 */
export function createPageAsker(edge: string, edgeKey: string): PageAsker {
  const limits = { ...defaultLimits.upstream, connections: CONNECTIONS, responseTimeoutMs: QUESTION_MS }
  const upstreams = (scheme: AskedPage['scheme']) =>
    createUpstreams({ ...limits, greeting: siteHeader(edgeKey, scheme, 'every') }, async () => true)
  const by: Record<AskedPage['scheme'], Upstreams> = { http: upstreams('http'), https: upstreams('https') }
  const asked = new Set<{ readonly sinceMs: number; end(): void }>()
  return {
    ask: ({ scheme, host, look }) =>
      new Promise((resolve) => {
        const sinceMs = performance.now()
        let status = 0
        let location: string | undefined
        let bytes = 0
        const answered = (answer: HostAnswer) => {
          asked.delete(question)
          resolve(answer)
        }
        const done = () => answered({ status, location, ms: performance.now() - sinceMs })
        const control = by[scheme].ask(edge, requestFor(host, look), {
          onFirstBytes() {},
          onHead(code, _reason, raw) {
            status = code
            location = locationIn(raw)
          },
          onData(piece) {
            bytes += piece.length
            if (bytes < MOST_BYTES) return
            done()
            control.abort()
          },
          onEnd: done,
          onError: (error) => answered({ code: error.code ?? error.name }),
        })
        const question = { sinceMs, end: () => control.abort() }
        asked.add(question)
      }),
    look() {
      const before = performance.now() - QUESTION_MS
      for (const each of asked) if (each.sinceMs < before) each.end()
    },
    async close() {
      await Promise.all([by.http.destroy(), by.https.destroy()])
    },
  }
}

/** For a cached page, the head says as much as the body, and costs less. */
const requestFor = (host: string, look: MonitorLook) => ({
  method: look === 'light' ? 'HEAD' : 'GET',
  path: '/',
  headers: [
    ...['host', host, 'user-agent', USER_AGENT, 'accept', 'text/html', 'accept-encoding', 'gzip', LOOK_HEADER, look],
    ...(look === 'light' ? [] : PAST_CACHES),
  ],
})

function locationIn(raw: readonly string[]): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if ((raw[i] as string).toLowerCase() === 'location') return raw[i + 1]
}
