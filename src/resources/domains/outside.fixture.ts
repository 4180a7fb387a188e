import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { declaredOf, type LooksAt, readProxyHeaders } from '../../platform/http/client/proxy-protocol.ts'

/** Key with which the edge recognizes Stead's own requests. */
export const EDGE_KEY = 'the key of the edge'

/** A name server and an edge that respond as a test defines. */
export interface Outside {
  /** A records by name. Other names do not exist. */
  readonly zone: Record<string, string[]>
  /** TXT records by name. */
  readonly texts: Record<string, string[]>
  /** Whether the name server reports that it cannot answer. */
  isFailing: boolean
  /** Called during a query, before the name server answers. */
  meanwhile?: () => Promise<void>
  /** Status that the edge responds with, by host name. 404 for others. */
  readonly edge: Record<string, number>
  /** Requests to the edge: method and host name. */
  readonly asked: string[]
  /** The site that Stead named in each request. */
  readonly looked: (LooksAt | undefined)[]
  readonly edgePort: number
  /** Settings for a Stead that uses these servers. */
  readonly settings: { readonly STEAD_RESOLVERS: string; readonly STEAD_EDGE_LISTEN: string }
  closeEdge(): Promise<void>
  close(): Promise<void>
}

export async function startOutside(): Promise<Outside> {
  const zone: Outside['zone'] = {}
  const texts: Outside['texts'] = {}
  const edge: Outside['edge'] = {}
  const asked: string[] = []
  const looked: Outside['looked'] = []
  const dns = createSocket('udp4', async (query, { port, address }) => {
    await outside.meanwhile?.()
    const answer = answerTo(query, { zone, texts })
    // SERVFAIL.
    if (outside.isFailing) answer.writeUInt16BE(0x8582, 2)
    dns.send(answer, port, address)
  }).bind(0, '127.0.0.1')
  const web = createServer(({ method, headers: { host = '' }, socket }, response) => {
    asked.push(`${method} ${host}`)
    looked.push(declaredOf(socket)?.looksAt)
    response.writeHead(edge[host] ?? 404).end()
  }).listen(0, '127.0.0.1')
  readProxyHeaders(web, { isBalancer: () => false, siteKey: EDGE_KEY, timeoutMs: 10_000 })
  await Promise.all([once(dns, 'listening'), once(web, 'listening')])
  const { port: edgePort } = web.address() as AddressInfo
  const closeEdge = async () => {
    if (!web.listening) return
    web.close()
    web.closeAllConnections()
    await once(web, 'close')
  }
  const outside: Outside = {
    ...{ zone, texts, isFailing: false, edge, asked, looked, edgePort, closeEdge },
    settings: {
      STEAD_RESOLVERS: `127.0.0.1:${dns.address().port}`,
      STEAD_EDGE_LISTEN: `127.0.0.1:${edgePort}`,
    },
    async close() {
      dns.close()
      await closeEdge()
    },
  }
  return outside
}

/** Builds a response from the question's own bytes, with flags and records (RFC 1035 §4.1). */
function answerTo(query: Buffer, { zone, texts }: Pick<Outside, 'zone' | 'texts'>): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const type = query.readUInt16BE(at + 1)
  const question = query.subarray(12, at + 5)
  const name = labels.join('.').toLowerCase()
  const data = [
    ...(type === A ? (zone[name] ?? []).map((address) => Buffer.from(address.split('.').map(Number))) : []),
    ...(type === TXT ? (texts[name] ?? []).map((text) => Buffer.from([text.length, ...Buffer.from(text)])) : []),
  ]
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(name in zone || name in texts ? 0x8580 : 0x8583, 2)
  header.writeUInt16BE(data.length, 6)
  header.writeUInt32BE(0, 8)
  const records = data.map((each) =>
    Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, each.length]), each]),
  )
  return Buffer.concat([header, question, ...records])
}

const A = 1
const TXT = 16
