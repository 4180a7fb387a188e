/**
 * A certificate authority for tests (RFC 8555) that validates nothing, and does what the test sets. For a real one see
 * `pebble.ts`.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Status = 'pending' | 'processing' | 'ready' | 'valid' | 'invalid'

export interface StandInOrder {
  status: Status
  /** Of its only authorization. */
  proof: 'pending' | 'valid' | 'invalid'
  /** The certificate that the order says it replaces. */
  readonly replaces: string | undefined
  readonly identifier: string
  expires: string | undefined
}

interface Refusal {
  readonly status: number
  readonly type: string
  readonly detail: string
  readonly retryAfter?: string
}

export interface StandInAuthority {
  readonly directory: string
  readonly orders: StandInOrder[]
  /** Requests, by the last part of their path: `account`, `order`, `orders/1`, `finalize/1`. */
  readonly asked: string[]
  /** Created accounts, by their contacts. */
  readonly accounts: (readonly string[])[]
  /** Types of challenges that it offers. */
  challenges: string[]
  /** How many authorizations its orders list. */
  authorizations: number
  /** The next state of an order whose name was proved, and of one that was finalized. */
  proved: 'valid' | 'invalid'
  issued: 'valid' | 'invalid'
  /** When every certificate should be renewed (RFC 9773). */
  window: { readonly start: string; readonly end: string } | undefined
  /** Rejects paths that begin with this. */
  refuse: { readonly path: string; readonly by: Refusal } | undefined
  close(): Promise<void>
}

/** @param chain the PEM that it issues for every order */
export async function standInAuthority(chain: string): Promise<StandInAuthority> {
  let origin = ''
  let nonce = 0
  const authority = {
    ...{ orders: [] as StandInOrder[], asked: [] as string[], accounts: [] as (readonly string[])[] },
    ...{ challenges: ['http-01', 'dns-01'], authorizations: 1, proved: 'valid', issued: 'valid' },
    ...{ refuse: undefined, window: undefined },
  } as unknown as StandInAuthority & { directory: string }
  const orderOf = (id: string) => authority.orders[Number(id) - 1] as StandInOrder
  const shown = (id: string) => {
    const { status, identifier, expires } = orderOf(id)
    return {
      ...{ status, identifiers: [{ type: 'dns', value: identifier }] },
      authorizations: new Array(authority.authorizations).fill(`${origin}/proof/${id}`),
      ...{ finalize: `${origin}/finalize/${id}`, ...(expires && { expires }) },
      ...(status === 'valid' && { certificate: `${origin}/certificate/${id}` }),
      ...(status === 'invalid' && { error: { detail: 'a record forbids it' } }),
    }
  }
  const proofOf = (id: string) => {
    const { proof, identifier } = orderOf(id)
    const error = proof === 'invalid' ? { error: { detail: 'it leads elsewhere' } } : {}
    return {
      ...{ status: proof, identifier: { type: 'dns', value: identifier }, expires: '2040-01-01T00:00:00Z' },
      challenges: authority.challenges.map((type) => ({
        ...{ type, url: `${origin}/answer/${id}`, token: `token-${id}-${type}`, status: proof, ...error },
      })),
    }
  }
  const answers: Record<string, (id: string, said: Record<string, unknown>) => [number, unknown, string?]> = {
    account(_, { contact = [] }) {
      authority.accounts.push(contact as string[])
      return [201, { status: 'valid' }, `${origin}/account/${authority.accounts.length}`]
    },
    order(_, { identifiers, replaces }) {
      const [{ value: identifier }] = identifiers as [{ value: string }]
      const order = { status: 'pending', proof: 'pending', replaces, identifier, expires: undefined }
      const id = String(authority.orders.push(order as StandInOrder))
      return [201, shown(id), `${origin}/orders/${id}`]
    },
    orders: (id) => (orderOf(id) ? [200, shown(id)] : [404, { type: 'urn:ietf:params:acme:error:malformed' }]),
    proof: (id) => [200, proofOf(id)],
    answer(id) {
      const order = orderOf(id)
      order.proof = authority.proved
      order.status = authority.proved === 'valid' ? 'ready' : 'invalid'
      return [200, proofOf(id).challenges[0]]
    },
    finalize(id) {
      orderOf(id).status = authority.issued
      return [200, shown(id)]
    },
    certificate: () => [200, chain],
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '').slice(1)
    const [kind = '', id = ''] = path.split('/')
    response.setHeader('replay-nonce', `nonce-${++nonce}`)
    if (kind === 'directory') {
      const places = { newNonce: `${origin}/nonce`, newAccount: `${origin}/account`, newOrder: `${origin}/order` }
      return response.end(JSON.stringify({ ...places, ...(authority.window && { renewalInfo: `${origin}/renewal` }) }))
    }
    if (kind === 'renewal') {
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify({ suggestedWindow: authority.window }))
    }
    if (kind === 'nonce') return response.end()
    authority.asked.push(path)
    let text = ''
    for await (const part of request) text += part
    const { payload } = JSON.parse(text) as { payload: string }
    if (authority.refuse && path.startsWith(authority.refuse.path)) {
      const { status, type, detail, retryAfter } = authority.refuse.by
      const headers = { 'content-type': 'application/problem+json', ...(retryAfter && { 'retry-after': retryAfter }) }
      return response.writeHead(status, headers).end(JSON.stringify({ type, detail }))
    }
    const said = payload === '' ? {} : JSON.parse(Buffer.from(payload, 'base64url').toString())
    const [status, body, location] = answers[kind]?.(id, said) ?? [404, {}]
    const type = typeof body === 'string' ? 'application/pem-certificate-chain' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...(location && { location }) })
    return response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(authority, {
    directory: `${origin}/directory`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
