import { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterEach, describe, expect, test } from 'vitest'
import { GCM, gcmIn, IDENT, knowsGcm, readyKeys } from './cipher.ts'
import { sftpHostKey } from './host-key.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const list = (...names: string[]) => {
  const text = Buffer.from(names.join(','))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text])
}
/** Returns a client's first bytes: its identification line and its list of algorithms. */
function firstWords(toServer: string[], toClient: string[] = toServer): Buffer {
  const lists = [list('curve25519-sha256'), list('ssh-ed25519'), list(...toServer), list(...toClient)]
  const payload = Buffer.concat([Buffer.from([20]), Buffer.alloc(16), ...lists])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length + 1)
  return Buffer.concat([Buffer.from('SSH-2.0-made_up\r\n'), head, payload])
}

/** Returns both ends of a connection. */
async function pair(): Promise<[client: Socket, server: Socket]> {
  const listener = createServer().listen(0, '127.0.0.1')
  ends.push(() => listener.close())
  await once(listener, 'listening')
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  const [server] = (await once(listener, 'connection')) as [Socket]
  ends.push(
    () => client.destroy(),
    () => server.destroy(),
  )
  return [client, server]
}

describe('detecting AES-GCM', () => {
  test.each([
    ['the client wishes it last', ['aes256-ctr', GCM[0]], undefined, true],
    ['it knows the longer key alone', [GCM[1]], undefined, true],
    ['it does not know it', ['aes256-ctr'], undefined, false],
    ['it knows it in one direction', [GCM[0]], ['aes256-ctr'], false],
  ])('%s', (_what, toServer, toClient, known) => {
    const words = firstWords(toServer, toClient)
    expect(gcmIn(words)).toBe(known)
    for (const length of [0, 10, 18, 22, words.length - 1]) expect(gcmIn(words.subarray(0, length))).toBeUndefined()
  })

  test('leaves an invalid length, and any other message, to ssh2', () => {
    const long = firstWords([GCM[0]])
    long.writeUInt32BE(0xffff_ffff, 'SSH-2.0-made_up\r\n'.length)
    expect(gcmIn(long)).toBe(false)
    const other = firstWords([GCM[0]])
    other[other.indexOf(20, 'SSH-2.0-made_up\r\n'.length + 5)] = 21
    expect(gcmIn(other)).toBe(false)
    const broken = firstWords([GCM[0]])
    broken.writeUInt32BE(0xffff_ffff, broken.indexOf('ssh-ed25519') - 4)
    expect(gcmIn(broken)).toBe(false)
  })
})

describe('before ssh2 has the connection', () => {
  test('returns the bytes it read to the stream, and sends the server’s name once', async () => {
    const [client, server] = await pair()
    const words = firstWords([GCM[0]])
    client.write(words.subarray(0, 30))
    const known = knowsGcm(server)
    await once(client, 'data')
    client.write(words.subarray(30))
    expect(await known).toBe(true)
    const told = once(client, 'data')
    server.write(`SSH-2.0-${IDENT}\r\n`)
    server.write('and on')
    expect(String((await told)[0])).toBe('and on')
    let heard = Buffer.alloc(0)
    server.on('data', (bytes) => (heard = Buffer.concat([heard, bytes]))).resume()
    await expect.poll(() => heard.equals(words)).toBe(true)
  })

  test('greets a client that waits for the server first, and offers no choice to one that says too much', async () => {
    const [silent, toSilent] = await pair()
    silent.write('SSH-2.0-waits\r\n')
    expect(await knowsGcm(toSilent)).toBe(false)
    const [loud, toLoud] = await pair()
    loud.write(Buffer.alloc(20_000, 'x'))
    expect(await knowsGcm(toLoud)).toBe(false)
  })

  test('does not pass on a client that disconnects', async () => {
    const [client, server] = await pair()
    const known = knowsGcm(server)
    client.write('SSH-2.0-gone\r\n')
    client.end()
    expect(await known).toBeUndefined()
  })
})

test('passes AES-GCM keys to the pinned ssh2 as key objects, in both directions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stead-cipher-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const keys: unknown[] = []
  const options = { hostKeys: [await sftpHostKey(folder)], algorithms: { cipher: [GCM[0]] } }
  const server = new ssh2.Server(options, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    client.on('handshake', () => {
      readyKeys(client)
      const { _cipher, _decipher } = (client as never as { _protocol: Record<string, Record<string, unknown>> })
        ._protocol
      keys.push(_cipher?._encKey, _decipher?._decipherKey)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new ssh2.Client()
  ends.push(
    () => server.close(),
    () => client.end(),
  )
  client.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', username: 'any', password: 'any' })
  await once(client, 'ready')
  expect(keys.length).toBe(2)
  for (const key of keys) expect(key).toBeInstanceOf(KeyObject)
})
