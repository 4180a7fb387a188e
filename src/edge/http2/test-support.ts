/** An edge over TLS for the tests of HTTP/2, with two clients: Node's own, and one that sends raw frames. */
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import type { GatewayOptions } from '../gateway/gateway.ts'
import type { Route } from '../routing/route.ts'
import { type Cleanup, listen, startGateway } from '../test-support.ts'
import { createSecureContexts } from '../tls/secure-contexts.ts'

/** Creates a certificate for these names, with the first as its subject. */
export async function certificateOf(...names: string[]) {
  const made = await generate([{ name: 'commonName', value: names[0] as string }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) }],
  })
  return { chain: made.cert, key: made.private, issuedAt: 1 }
}

/** Starts a gateway over TLS with certificates for the names of these routes. */
export async function startSecureEdge(
  cleanup: Cleanup,
  routes: Record<string, Route>,
  more: Partial<GatewayOptions> = {},
  certificate?: Awaited<ReturnType<typeof certificateOf>>,
) {
  const secureContexts = createSecureContexts({
    routes: { find: (name) => routes[name] && { ...routes[name], hostName: name, certifiedAt: 1 } },
    load: async (name) => certificate ?? certificateOf(name),
  })
  const { gateway, port: plainPort } = await startGateway(cleanup, routes, { secureContexts, ...more })
  const server = gateway.secureServer as NonNullable<typeof gateway.secureServer>
  const port = await listen(server)
  cleanup.add(() => server.closeAllConnections())
  return { gateway, port, plainPort }
}

/** Opens a session of Node's client. */
export async function openSession(
  port: number,
  cleanup: Cleanup,
  servername = 'site.test',
): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://${servername}:${port}`, {
    createConnection: () => tlsConnection(port, servername),
  })
  session.on('error', () => {})
  cleanup.add(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

export const tlsConnection = (port: number, servername = 'site.test'): TLSSocket =>
  connectTls({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false })

export interface Http2Reply {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  body: string
  /** 0 if the stream has ended normally. */
  reset: number
}

/** Sends one request on a session. */
export async function askOn(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Http2Reply> {
  const stream = session.request(
    { ':path': '/', ':authority': 'site.test', ...headers },
    { endStream: body === undefined },
  )
  const reply: Http2Reply = { status: undefined, headers: {}, body: '', reset: 0 }
  stream.on('response', (head) => {
    reply.status = head[':status']
    reply.headers = head as Http2Reply['headers']
  })
  stream.on('data', (chunk: Buffer) => {
    reply.body += chunk.toString('latin1')
  })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  await new Promise((resolve) => stream.once('close', resolve))
  reply.reset = stream.rstCode
  return reply
}

/** Frame types and codes (RFC 9113 §6, §7). */
export const FRAMES = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Encodes fields without compression (RFC 7541 §6.2.2), each shorter than 127 bytes or with a multi-byte length. */
export function fields(headers: Record<string, string>): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1')
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
    const length = [127]
    let rest = bytes.length - 127
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
    return Buffer.concat([Buffer.from([...length, rest]), bytes])
  }
  return Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]))
}

export const GET = { ':method': 'GET', ':scheme': 'https', ':path': '/', ':authority': 'site.test' }

/** A connection that sends raw frames, and records the received ones. */
export interface RawSession {
  readonly socket: TLSSocket
  send(...frames: Buffer[]): void
  readonly frames: { type: number; flags: number; stream: number; payload: Buffer }[]
  /** Resolves with the code of the first GOAWAY (RFC 9113 §7) when the connection has ended. */
  closed(): Promise<number | undefined>
}

export async function openRaw(port: number, cleanup: Cleanup, settings = Buffer.alloc(0)): Promise<RawSession> {
  const socket = tlsConnection(port)
  socket.on('error', () => {})
  cleanup.add(() => socket.destroy())
  await once(socket, 'secureConnect')
  const frames: RawSession['frames'] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3)
      const [type, flags, stream] = [rest.readUInt8(3), rest.readUInt8(4), rest.readUInt32BE(5)]
      frames.push({ type, flags, stream, payload: rest.subarray(9, end) })
      rest = rest.subarray(end)
    }
  })
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(FRAMES.settings, 0, 0, settings)]))
  return {
    socket,
    frames,
    send: (...all) => void socket.write(Buffer.concat(all)),
    async closed() {
      await over
      return frames.find(({ type }) => type === FRAMES.goaway)?.payload.readUInt32BE(4)
    },
  }
}
