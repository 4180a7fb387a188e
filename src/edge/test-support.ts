/** Real sockets for the edge's tests: a gateway on a free port, a scripted host, raw connections. */
import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createGateway, type Gateway, type GatewayOptions } from './gateway/gateway.ts'
import type { Route } from './routing/route.ts'

export const silent = { debug() {}, warn() {}, error() {} }

/** Collects what to close at the end of a test. */
export function createCleanup() {
  const steps: (() => unknown)[] = []
  return {
    add: (step: () => unknown) => void steps.push(step),
    async run() {
      for (const step of steps.splice(0).reverse()) await step()
    },
  }
}

export type Cleanup = ReturnType<typeof createCleanup>

export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export async function startHost(cleanup: Cleanup, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  cleanup.add(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${await listen(server)}`
}

export const routeTo = (upstream: string, more: Partial<Route> = {}): Route => ({
  hostName: 'site.test',
  siteId: 7,
  state: 'live',
  hostId: 1,
  upstream,
  redirectsTo: null,
  isInMaintenance: false,
  hasEdgeCache: false,
  cacheEpoch: 0,
  hasCdn: false,
  cdnEpoch: 0,
  ...more,
})

export interface TestGateway {
  gateway: Gateway
  port: number
}

/** Starts a gateway that knows `site.test`, and the routes given by name. */
export async function startGateway(
  cleanup: Cleanup,
  routes: Record<string, Route>,
  more: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const gateway = createGateway({
    routes: { find: (hostName) => routes[hostName] },
    log: silent,
    hostKey: 'key-of-the-host',
    ...more,
  })
  const port = await listen(gateway.server)
  cleanup.add(() => {
    gateway.server.closeAllConnections()
    return gateway.close()
  })
  return { gateway, port }
}

/** A connection that sends raw bytes and records the answers. */
export interface RawConnection {
  socket: Socket
  text(): string
  /** Resolves when the received text satisfies the test. Rejects when the peer closes before. */
  until(test: (text: string) => boolean): Promise<string>
  closed(): Promise<string>
}

export async function rawConnect(port: number, cleanup: Cleanup): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  cleanup.add(() => socket.destroy())
  await once(socket, 'connect')
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  return {
    socket,
    text: () => text,
    closed: () => ended,
    async until(test) {
      while (!test(text)) {
        if (socket.destroyed || socket.readableEnded) throw new Error(`connection closed after: ${text}`)
        await Promise.race([once(socket, 'data'), ended])
      }
      return text
    },
  }
}

/** Sends one raw request and waits for the end of the connection. */
export async function rawRequest(port: number, cleanup: Cleanup, request: string): Promise<string> {
  const connection = await rawConnect(port, cleanup)
  connection.socket.write(request, 'latin1')
  return connection.closed()
}

/** Waits until `test` holds. The test's own timeout is the limit. */
export async function eventually(test: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** An answer, read to its end. */
export interface Reply {
  status: number
  reason: string
  headers: IncomingHttpHeaders
  raw: string[]
  body: string
}

/** Sends one request on a connection of its own. */
export async function ask(
  port: number,
  path = '/',
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; host?: string } = {},
): Promise<Reply> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method: options.method ?? 'GET',
    headers: { host: options.host ?? 'site.test', ...options.headers },
    agent: false,
  })
  request.end(options.body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // A body that is still being sent when the answer is complete may fail.
  request.on('error', () => {})
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return {
    status: response.statusCode as number,
    reason: response.statusMessage as string,
    headers: response.headers,
    raw: response.rawHeaders,
    body: Buffer.concat(chunks).toString(),
  }
}

/** Starts a host that echoes its requests. */
export const startEcho = (cleanup: Cleanup) =>
  startHost(cleanup, async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        raw: request.rawHeaders,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('latin1'),
      }),
    )
  })
