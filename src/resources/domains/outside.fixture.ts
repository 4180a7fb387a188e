import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A name server and an edge that say what a test wants. */
export interface Outside {
  /** By name: its A records. What is not here does not exist. */
  readonly zone: Record<string, string[]>
  /** What the edge answers with, by host name; 404 for others. */
  readonly edge: Record<string, number>
  /** What the edge was asked: method and host name. */
  readonly asked: string[]
  readonly edgePort: number
  /** Settings of a Stead that has this outside. */
  readonly settings: { readonly STEAD_RESOLVERS: string; readonly STEAD_EDGE_LISTEN: string }
  closeEdge(): Promise<void>
  close(): Promise<void>
}

export async function startOutside(): Promise<Outside> {
  const zone: Outside['zone'] = {}
  const edge: Outside['edge'] = {}
  const asked: string[] = []
  const dns = createSocket('udp4', (query, { port, address }) => dns.send(answerTo(query, zone), port, address)).bind(
    0,
    '127.0.0.1',
  )
  const web = createServer(({ method, headers: { host = '' } }, response) => {
    asked.push(`${method} ${host}`)
    response.writeHead(edge[host] ?? 404).end()
  }).listen(0, '127.0.0.1')
  await Promise.all([once(dns, 'listening'), once(web, 'listening')])
  const { port: edgePort } = web.address() as AddressInfo
  const closeEdge = async () => {
    if (!web.listening) return
    web.close()
    web.closeAllConnections()
    await once(web, 'close')
  }
  return {
    ...{ zone, edge, asked, edgePort, closeEdge },
    settings: {
      STEAD_RESOLVERS: `127.0.0.1:${dns.address().port}`,
      STEAD_EDGE_LISTEN: `127.0.0.1:${edgePort}`,
    },
    async close() {
      dns.close()
      await closeEdge()
    },
  }
}

/** A question's own bytes with the flags and records of an answer (RFC 1035 §4.1). */
function answerTo(query: Buffer, zone: Outside['zone']): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const type = query.readUInt16BE(at + 1)
  const question = query.subarray(12, at + 5)
  const known = zone[labels.join('.').toLowerCase()]
  const addresses = type === 1 ? (known ?? []) : []
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(known ? 0x8580 : 0x8583, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([header, question, ...records])
}
