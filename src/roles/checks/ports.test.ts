import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { settings } from '../../config.ts'
import { listeners, reachableHost } from '../listeners.ts'
import { contextOf } from './context.fixture.ts'
import { portsCheck } from './ports.ts'

const servers: { close(): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(greeting = ''): Promise<number> {
  const server: Server = createServer((socket) => void socket.end(greeting))
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
/** Ports that the system chooses, for listeners that a test does not name. */
const unnamed = {
  STEAD_API_LISTEN: '127.0.0.1:0',
  STEAD_EDGE_LISTEN: '127.0.0.1:0',
  STEAD_SFTP_LISTEN: 'off',
  STEAD_DNS_LISTEN: 'off',
}
const look = (given: Record<string, string>, running: ReadonlySet<string> | 'stopped' = 'stopped') =>
  portsCheck.run(contextOf({ ...unnamed, ...given }, { running }))

test('reports a port in use by another program as a problem, and names the setting', async () => {
  const [taken, free] = [await listen(), await freePort()]
  const found = await look({ STEAD_EDGE_LISTEN: `127.0.0.1:${taken}`, STEAD_API_LISTEN: `127.0.0.1:${free}` })
  expect(found).toMatchObject([
    { state: 'ok', text: `127.0.0.1:${free} is free (STEAD_API_LISTEN).` },
    {
      state: 'problem',
      text: `127.0.0.1:${taken} is in use by another program.`,
      remedy: 'Choose another with STEAD_EDGE_LISTEN.',
    },
  ])
})

test('reports an address of another machine as a problem', async () => {
  const [found] = await look({ STEAD_EDGE_LISTEN: '192.0.2.1:8081' })
  expect(found).toMatchObject({ state: 'problem', text: '192.0.2.1:8081 is not an address of this server.' })
})

test("requires the name server's port for UDP as well", async () => {
  const socket = createSocket('udp4')
  servers.push(socket)
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const [found] = await look({ STEAD_DNS_LISTEN: `127.0.0.1:${socket.address().port}` })
  expect(found).toMatchObject({ state: 'problem', remedy: 'Choose another with STEAD_DNS_LISTEN.' })
})

test('requires running roles to answer, and ignores those of other machines', async () => {
  const [answers, silent] = [await listen(), await freePort()]
  const given = { STEAD_API_LISTEN: `127.0.0.1:${answers}`, STEAD_EDGE_LISTEN: `127.0.0.1:${silent}` }
  expect(await look(given, new Set(['control']))).toMatchObject([{ state: 'ok' }])
  expect(await look(given, new Set(['control', 'edge']))).toMatchObject([
    { state: 'ok', text: `Stead responds on 127.0.0.1:${answers} (STEAD_API_LISTEN).` },
    { state: 'problem', text: `Nothing responds on 127.0.0.1:${silent} (STEAD_EDGE_LISTEN).` },
  ])
})

test("distinguishes another SSH server on the SFTP port from Stead's", async () => {
  const host = new Set(['host'])
  const other = await look({ STEAD_SFTP_LISTEN: `127.0.0.1:${await listen('SSH-2.0-OpenSSH_9\r\n')}` }, host)
  expect(other).toMatchObject([{ state: 'problem', text: expect.stringMatching(/^Another program responds/) }])
  const own = await look({ STEAD_SFTP_LISTEN: `127.0.0.1:${await listen('SSH-2.0-Stead\r\n')}` }, host)
  expect(own).toMatchObject([{ state: 'ok' }])
})

test('treats only defaults without which a role can start as optional', () => {
  const of = (given: Record<string, string>) =>
    listeners(contextOf(given).config).flatMap(({ isOptional, variable }) => (isOptional ? [variable] : []))
  expect(of({})).toEqual(['STEAD_SFTP_LISTEN', 'STEAD_DNS_LISTEN'])
  expect(
    of({ STEAD_SFTP_LISTEN: '127.0.0.1:2', STEAD_DNS_LISTEN: `${settings.dnsListen.default},[::1]:5353` }),
  ).toEqual([])
})

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['192.0.2.1', '192.0.2.1'],
])('reaches a listener on %s at %s', (host, expected) => expect(reachableHost(host)).toBe(expected))
