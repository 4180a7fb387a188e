/** A visitor of a site: requests over a socket of its own, and what a browser keeps between them. */
import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { TLSSocket } from 'node:tls'

export interface VisitOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer | URLSearchParams
  readonly timeoutMs?: number
}

export interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends one request to the edge on a connection of its own. @throws when the connection fails or breaks */
export async function visit(
  options: VisitOptions & {
    readonly host: string
    /** Of the edge. Default: loopback. */
    readonly address?: string
    readonly port: number
    readonly path: string
  },
): Promise<Page> {
  const { method = 'GET', body, timeoutMs = 180_000, address = '127.0.0.1' } = options
  const form = body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const sent = request({
    host: address,
    port: options.port,
    path: options.path,
    method,
    headers: { host: `${options.host}:${options.port}`, ...form, ...options.headers },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  })
  sent.end(body instanceof URLSearchParams ? body.toString() : body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode as number, headers: response.headers, text }
}

export interface SecurePage {
  readonly status: number
  readonly text: string
  readonly certificate: X509Certificate
}

/** Sends one request over TLS on a connection of its own. Any certificate will do. @throws when the connection fails */
export async function visitSecurely(to: {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly path: string
}): Promise<SecurePage> {
  const { host, address, port, path } = to
  const options = { servername: host, rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(60_000) }
  const sent = requestSecurely({ host: address, port, path, headers: { host: `${host}:${port}` }, ...options }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const certificate = (response.socket as TLSSocket).getPeerX509Certificate() as X509Certificate
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode as number, text, certificate }
}

/** A browser without scripts that keeps cookies and follows redirects of its own site. */
export class Browser {
  readonly #ask: (path: string, options: VisitOptions) => Promise<Page>
  readonly #cookies = new Map<string, string>()

  constructor(ask: (path: string, options: VisitOptions) => Promise<Page>) {
    this.#ask = ask
  }

  async open(path: string, options: VisitOptions = {}): Promise<Page> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const page = await this.#ask(path, { ...options, headers: { ...(cookie && { cookie }), ...options.headers } })
    for (const line of page.headers['set-cookie'] ?? []) {
      const [name = '', ...value] = (line.split(';')[0] as string).split('=')
      this.#cookies.set(name, value.join('='))
    }
    const { location } = page.headers
    if (page.status < 300 || page.status > 399 || !location) return page
    const next = new URL(location, new URL(path, 'http://own.invalid'))
    return this.open(next.pathname + next.search)
  }

  /** Logs in like the form of wp-login.php. @returns the next page: wp-admin, or the form with its error */
  async logIn(user: string, password: string): Promise<Page> {
    await this.open('/wp-login.php')
    const form = new URLSearchParams({ log: user, pwd: password, 'wp-submit': 'Log In', testcookie: '1' })
    return this.open('/wp-login.php', { method: 'POST', body: form })
  }

  /** The nonce that the REST API requires with cookies. */
  async restNonce(): Promise<string> {
    return (await this.open('/wp-admin/admin-ajax.php?action=rest-nonce')).text.trim()
  }
}
