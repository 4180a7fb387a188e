/** Tests with real sockets. The client is dns-packet. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, isIPv6, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Budget } from '../platform/budgets/budget.ts'
import { createTcp, type TcpOptions } from './tcp.ts'
import { type Asking, decode, lines, questionFor, responderOf, zonesOf } from './test-support.ts'
import { listenUdp } from './udp.ts'

const zones = zonesOf({
  'example.test': ['www A 192.0.2.11', ...Array.from({ length: 3000 }, (_, at) => `host${at} TXT ${'x'.repeat(200)}`)],
})
const responder = responderOf(zones, { mayTransfer: () => true })
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const terms = { name: 'dns_connections', what: '', of: 'count', whose: 'address', over: '' } as const

async function tcp(more: Partial<TcpOptions> = {}) {
  const connections = new Budget({ ...terms, each: 8, all: 100 })
  const made = createTcp({ responder, connections, ...more })
  made.server.listen(0, '127.0.0.1')
  await once(made.server, 'listening')
  closing.push(() => made.close())
  return { ...made, connections, port: (made.server.address() as AddressInfo).port }
}

function dial(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  closing.push(async () => socket.destroy())
  return socket
}

const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

const question = (name: string, asking?: Asking) => framed(questionFor(name, asking))

/** Yields messages as they arrive, until the other side ends. */
async function* messagesOf(socket: Socket) {
  let rest = Buffer.alloc(0)
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0)
      yield rest.subarray(2, end)
      rest = rest.subarray(end)
    }
  }
}

async function take(messages: AsyncGenerator<Buffer>, count: number): Promise<Buffer[]> {
  const taken: Buffer[] = []
  while (taken.length < count) {
    const { value, done } = await messages.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

async function udp(isShared = false, port = 0) {
  const socket = await listenUdp({ responder, host: '127.0.0.1', port, isShared, onError() {} })
  closing.push(async () => socket.close())
  return socket.address().port
}

async function askUdp(at: number | { port: number; host: string }, ...messages: Buffer[]): Promise<Buffer> {
  const { port, host } = typeof at === 'number' ? { port: at, host: '127.0.0.1' } : at
  const client = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  closing.push(async () => client.close())
  const answer = once(client, 'message')
  // Sends again, because messages may be lost on the way.
  const send = () => {
    for (const message of messages) client.send(message, port, host)
  }
  const again = setInterval(send, 1000)
  send()
  const [message] = await answer
  clearInterval(again)
  return message
}

describe('over UDP', () => {
  it('answers a question', async () => {
    const answer = decode(await askUdp(await udp(), questionFor('www.example.test')))
    expect(lines(answer.answers)).toEqual(['www.example.test A 192.0.2.11'])
  })

  it('ignores invalid messages, and keeps answering', async () => {
    const port = await udp()
    const answer = await askUdp(
      port,
      Buffer.alloc(0),
      Buffer.alloc(5),
      Buffer.alloc(12, 0xff),
      questionFor('www.example.test'),
    )
    expect(decode(answer).answers).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')('shares one address among several processes', async () => {
    const port = await udp(true)
    expect(await udp(true, port)).toBe(port)
    expect(decode(await askUdp(port, questionFor('www.example.test'))).answers).toHaveLength(1)
  })

  it('does not answer messages from port 0, or when too many answers wait', async () => {
    const socket = await listenUdp({ responder, host: '127.0.0.1', port: 0, isShared: false, onError() {} })
    closing.push(async () => socket.close())
    const message = questionFor('www.example.test')
    const nobody = { address: '127.0.0.1', family: 'IPv4', port: 0, size: message.length }
    expect(() => socket.emit('message', message, nobody)).not.toThrow()
    const sent: unknown[] = []
    socket.send = (_answer: unknown, port?: unknown) => void sent.push(port)
    socket.getSendQueueSize = () => 5 << 20
    socket.emit('message', message, { ...nobody, port: 4 })
    socket.getSendQueueSize = () => 0
    socket.emit('message', message, { ...nobody, port: 5 })
    expect(sent).toEqual([5])
  })

  it('answers over IPv6 next to another server on the same port of IPv4', async () => {
    const port = await udp()
    const socket = await listenUdp({ responder, host: '::', port, ipv6Only: true, isShared: false, onError() {} })
    closing.push(async () => socket.close())
    for (const host of ['127.0.0.1', '::1'])
      expect(decode(await askUdp({ port, host }, questionFor('www.example.test'))).answers).toHaveLength(1)
  })

  it('fails when the address is in use', async () => {
    const port = await udp()
    await expect(udp(false, port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('over TCP (RFC 7766)', () => {
  it('answers questions that arrive together in order', async () => {
    const { port } = await tcp()
    const socket = dial(port)
    const names = Array.from({ length: 200 }, (_, at) => `host${at}.example.test`)
    socket.write(Buffer.concat(names.map((name) => question(name, { type: 'TXT' }))))
    const answers = await take(messagesOf(socket), 200)
    expect(answers.map((answer) => decode(answer).questions?.[0]?.name)).toEqual(names)
  })

  it('gives other clients a turn when one asks much at once', async () => {
    let turns = 0
    const seen: number[] = []
    const counting = {
      respond(...asked: Parameters<typeof responder.respond>) {
        if (seen.length === 0) setImmediate(count)
        seen.push(turns)
        return responder.respond(...asked)
      },
    } as typeof responder
    const count = () => ++turns < 50 && setImmediate(count)
    const socket = dial((await tcp({ responder: counting })).port)
    socket.write(Buffer.concat(Array.from({ length: 200 }, () => question('www.example.test'))))
    await take(messagesOf(socket), 200)
    expect(seen.at(-1)).toBeGreaterThan(0)
  })

  it('accepts a question in pieces, and the next after the answer', async () => {
    const socket = dial((await tcp()).port)
    const messages = messagesOf(socket)
    for (let round = 0; round < 2; round++) {
      for (const byte of question('www.example.test')) {
        socket.write(Buffer.from([byte]))
        await new Promise(setImmediate)
      }
      expect(decode((await take(messages, 1))[0]).answers).toHaveLength(1)
    }
  })

  it('answers a client that has ended its side, and then closes', async () => {
    const socket = dial((await tcp()).port)
    socket.end(Buffer.concat([question('www.example.test'), question('example.test', { type: 'AXFR' })]))
    const answers = await take(messagesOf(socket), Number.POSITIVE_INFINITY)
    expect(answers.length).toBeGreaterThan(40)
    expect(answers.every(({ length }) => length <= 16_384)).toBe(true)
    const records = answers.slice(1).flatMap((answer) => decode(answer).answers ?? [])
    expect(records.map(({ type }) => type).filter((type) => type === 'SOA')).toHaveLength(2)
    expect([records[0]?.type, records.at(-1)?.type]).toEqual(['SOA', 'SOA'])
    expect(new Set(records.filter(({ type }) => type === 'TXT').map(({ name }) => name)).size).toBe(3000)
  })

  it('pauses, then cuts off a client that does not read, and releases its budget', async () => {
    const { port, connections } = await tcp({ idleMs: 500 })
    const socket = dial(port)
    socket.pause()
    socket.write(Buffer.concat(Array.from({ length: 50 }, () => question('example.test', { type: 'AXFR' }))))
    await expect.poll(() => connections.used).toBe(1)
    await expect.poll(() => connections.used).toBe(0)
  })

  it('cuts off a client at once that announces too long a question', async () => {
    const socket = dial((await tcp({ idleMs: 3_600_000 })).port)
    socket.write(Buffer.from([0xff, 0xff]))
    await once(socket.resume(), 'end')
  })

  it('cuts off a client that sends nothing, or half a question', async () => {
    const { port, connections } = await tcp({ idleMs: 300 })
    const sockets = [dial(port), dial(port)]
    sockets[1]?.write(question('www.example.test').subarray(0, 9))
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'end')))
    await expect.poll(() => connections.used).toBe(0)
  })

  it('limits the connections of one address', async () => {
    const connections = new Budget({ ...terms, each: 2, all: 100 })
    const { port } = await tcp({ connections })
    const kept = [dial(port), dial(port)]
    for (const socket of kept) {
      socket.write(question('www.example.test'))
      expect(await take(messagesOf(socket), 1)).toHaveLength(1)
    }
    const third = dial(port)
    third.write(question('www.example.test'))
    expect(await take(messagesOf(third), 1).catch(() => [])).toEqual([])
    expect(connections.used).toBe(2)
  })
})
