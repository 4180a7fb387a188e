import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { askedFor, readPlace } from './connections.ts'

test.each([
  ['0100007F:1F91', { address: '127.0.0.1', port: 8081 }],
  ['08080808:0035', { address: '8.8.8.8', port: 53 }],
  ['00000000000000000000000001000000:0050', { address: '::1', port: 80 }],
  ['0000000000000000FFFF00000100007F:0050', { address: '::ffff:127.0.0.1', port: 80 }],
  ['B80D0120000000000000000001000000:01BB', { address: '2001:db8:0:0:0:0:0:1', port: 443 }],
  ['0100007F', undefined],
  ['01:0050', undefined],
  ['0100007F:xyzq', undefined],
])('reads the kernel’s %s', (text, expected) => {
  expect(readPlace(text)).toEqual(expected)
})

test.skipIf(process.platform !== 'linux').each(['127.0.0.1', '::1'])(
  'finds where a connection was going by where it comes from: %s',
  async (address) => {
    const server = createServer().listen(0, address)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = connect(port, address)
    await once(client, 'connect')
    const peer = { address, port: client.localPort as number }
    expect(await askedFor(process.pid, peer)).toEqual({ address, port })
    // A listening socket is not a connection from its port.
    expect(await askedFor(process.pid, { address, port })).toEqual({ address, port: peer.port })
    expect(await askedFor(process.pid, { address, port: 1 })).toBeUndefined()
    client.destroy()
    server.close()
  },
)

test.skipIf(process.platform !== 'linux')('distinguishes connections from the same port of two addresses', async () => {
  const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  const first = connect({ port: ports[0] as number, host: '127.0.0.1', localAddress: '127.0.0.2' })
  await once(first, 'connect')
  const localPort = first.localPort as number
  const second = connect({ port: ports[1] as number, host: '127.0.0.1', localAddress: '127.0.0.3', localPort })
  await once(second, 'connect')
  const asked = ['127.0.0.2', '127.0.0.3'].map((address) => askedFor(process.pid, { address, port: localPort }))
  expect((await Promise.all(asked)).map((place) => place?.port)).toEqual(ports)
  for (const each of [first, second]) each.destroy()
  for (const each of servers) each.close()
})
