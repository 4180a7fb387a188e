/**
 * A separate process at the usual priority, started by `measure.ts`: an ordinary visitor and an ordinary client, once a
 * second. Subtracts the delay of its own event loop from each sample, which is this process' wait for a core, not
 * Stead's response time.
 */
import { request } from 'node:http'
import { performance } from 'node:perf_hooks'

export interface MeasuredPlace {
  readonly edgePort: number
  readonly apiPort: number
  readonly host: string
  readonly siteId: number
  readonly token: string
  /** Credentials to sign in with. */
  readonly clientId: string
  readonly clientSecret: string
}

export type SampleKind = 'cached' | 'uncached' | 'api' | 'name'

export interface Sample {
  readonly kind: SampleKind
  readonly what: string
  /** Milliseconds, without this process' own delay. */
  readonly ms: number
  /** Empty when the response was right. */
  readonly fault: string
  /** For the kind `name`: the name that PHP looked up. */
  readonly name?: string
}

interface Asked {
  readonly port: number
  readonly method?: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

const LONGEST_MS = 20_000
const TICK_MS = 5

/** Recent delays of a timer: [when, by how much]. */
const lateness: [number, number][] = []
let expected = performance.now() + TICK_MS
setInterval(() => {
  const now = performance.now()
  lateness.push([now, Math.max(0, now - expected)])
  expected = now + TICK_MS
  if (lateness.length > 8000) lateness.splice(0, 4000)
}, TICK_MS)

const lateSince = (start: number): number =>
  lateness.reduce((most, [at, late]) => (at >= start ? Math.max(most, late) : most), 0)

process.once('message', (place: MeasuredPlace) => measure(place))
process.on('disconnect', () => process.exit(0))

function measure({ edgePort, apiPort, host, siteId, token, clientId, clientSecret }: MeasuredPlace): void {
  const visitor = { host: `${host}:${edgePort}` }
  const client = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const site = `/v1/sites/${siteId}`
  const note = JSON.stringify({ subject: 'measured', body: 'all is well' })
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' }
  const signIn = { port: apiPort, method: 'POST', path: '/auth/token', headers: asForm, body: String(form) }
  let n = 0
  const everySecond = () => {
    n++
    void take('cached', 'page from the cache', { port: edgePort, path: '/', headers: visitor })
    void take('api', 'GET site', { port: apiPort, path: site, headers: client })
    void take('api', 'POST note', { port: apiPort, method: 'POST', path: `${site}/notes`, headers: client, body: note })
    void take('api', n % 2 ? 'list of notes' : 'list of sites', {
      port: apiPort,
      path: n % 2 ? `${site}/notes` : '/v1/sites',
      headers: client,
    })
    if (n % 5 === 1) void take('api', 'signing in', signIn)
    // one at a time, because the site has one PHP: waiting for the previous sample would count twice
    if (n % 2 === 0) void once('uncached', { port: edgePort, path: `/fresh.php?n=${n}`, headers: visitor })
    if (n % 10 === 5) {
      const name = `name-${n}.answers.test`
      void once('name', { port: edgePort, path: `/name.php?of=${name}`, headers: visitor }, name)
    }
  }
  everySecond()
  setInterval(everySecond, 1000)
}

const busy = new Set<SampleKind>()
async function once(kind: 'uncached' | 'name', asked: Asked, name?: string): Promise<void> {
  if (busy.has(kind)) return
  busy.add(kind)
  await take(kind, kind === 'name' ? 'PHP that asks for a name' : 'page by PHP', asked, name)
  busy.delete(kind)
}

async function take(kind: SampleKind, what: string, asked: Asked, name?: string): Promise<void> {
  const start = performance.now()
  const { status, text, fault } = await ask(asked)
  const ms = performance.now() - start
  const wrong =
    fault || (status !== 200 && `status ${status}`) || (kind === 'cached' && !text.includes('</html>') && 'cut off')
  process.send?.({ kind, what, ms: Math.max(0, ms - lateSince(start)), fault: wrong || '', name } satisfies Sample)
}

/** Uses a connection of its own, as a new visitor does. */
function ask({ port, method = 'GET', path, headers, body }: Asked) {
  return new Promise<{ status: number; text: string; fault: string }>((resolve) => {
    const end = (fault: string) => resolve({ status: 0, text: '', fault })
    const signal = AbortSignal.timeout(LONGEST_MS)
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false, signal })
    sent.on('error', (error) =>
      end(error.name === 'AbortError' ? `no answer in ${LONGEST_MS / 1000} s` : error.message),
    )
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('error', (error) => end(error.message))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, fault: '' }))
    })
    sent.end(body)
  })
}
