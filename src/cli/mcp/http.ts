import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { readAtMost } from '../../platform/read-at-most.ts'
import { Stead } from '../../sdk/index.ts'
import { version } from '../../version.ts'
import { createServer } from './server.ts'

export interface HttpOptions {
  /** The URL of the API. */
  readonly url: string
  readonly allowChanges: boolean
  readonly listen: { readonly host: string; readonly port: number }
  /** The host names of this server, in addition to those of this machine. */
  readonly hosts: readonly string[]
  /** The most messages that are answered at once, some of which wait minutes for work to end. 64 by default. */
  readonly atOnce?: number
}

/** The most bytes of a message. */
const MOST_BYTES = 1 << 20
const AT_ONCE = 64
const OWN_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/**
 * Serves the protocol over HTTP at `/mcp` ("streamable HTTP"). Each request contains its own API token, and nothing is
 * stored between requests, so that no session can leak to another client. Resolves when it listens.
 */
export async function serveHttp({ url, allowChanges, listen, hosts, atOnce = AT_ONCE }: HttpOptions): Promise<Server> {
  let open = 0
  const allowed = [...OWN_HOSTS, listen.host, ...hosts].map((name) => name.toLowerCase())

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.split('?')[0] !== '/mcp') return refuse(response, 404, 'Send requests to /mcp.')
    // This prevents DNS rebinding: a page in a browser whose name was pointed to this address would otherwise have
    // access.
    if (!allowed.includes(hostOf(request.headers.host)))
      return refuse(response, 403, 'This server does not accept that host name. Add it with --host=NAME.')
    const { origin } = request.headers
    if (origin !== undefined && !allowed.includes(hostOf(origin.replace(/^https?:\/\//, ''))))
      return refuse(response, 403, 'Requests from pages of other servers are not allowed.')
    if (request.method !== 'POST')
      return refuse(response, 405, 'This server has no sessions. Send each message with POST.', { allow: 'POST' })
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined)
      return refuse(response, 401, 'Send a token of the API: Authorization: Bearer …', {
        'www-authenticate': 'Bearer realm="stead"',
      })
    if (open >= atOnce)
      return refuse(response, 503, 'Too many messages at once. Wait for responses before you send more.', {
        'retry-after': '5',
      })
    open++
    response.once('close', () => open--)
    const body = await bodyOf(request)
    if (body === undefined)
      return refuse(response, 413, `A message can have at most ${MOST_BYTES} bytes.`, { connection: 'close' })
    const message = parsed(body)
    if (message === undefined) return refuse(response, 400, 'Messages must be JSON.')
    await pass(message, token, request, response)
  }

  async function pass(message: unknown, token: string, request: IncomingMessage, response: ServerResponse) {
    const stead = new Stead({ url, token, retries: 2, headers: { 'user-agent': `stead-mcp/${version}` } })
    const server = createServer(stead, { allowChanges })
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    response.once('close', () => void server.close())
    await server.connect(transport as never)
    await transport.handleRequest(request, response, message)
  }

  const http = createHttpServer({ requestTimeout: 30_000 }, (request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'An internal error occurred in Stead.')
    })
  })
  http.listen(listen.port, listen.host)
  await new Promise<void>((resolve, reject) => {
    http.once('listening', resolve)
    http.once('error', reject)
  })
  return http
}

/** Returns the host without its port. */
const hostOf = (text = ''): string => text.toLowerCase().replace(/:\d+$/, '')

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const error = { jsonrpc: '2.0', error: { code: -32000, message: text }, id: null }
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(error))
}

/** @returns undefined if it is too long */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return (await readAtMost(request, MOST_BYTES))?.toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
