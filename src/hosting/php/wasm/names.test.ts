import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lookupPublic, systemResolve } from '../../../platform/fetch/addresses.ts'
import { createResolver } from '../../../platform/fetch/resolver.ts'
import { testBudgets } from '../../web-server/test-support.ts'
import { createNames } from './names.ts'

let server: Socket
let servers: string[]
let folder: string
let asked: string[]
/** Whether the server has stopped answering. */
let isDead: boolean

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-names-'))
  asked = []
  isDead = false
  server = createSocket('udp4')
  server.on('message', (message, { port, address }) => {
    const { name, type } = questionOf(message)
    asked.push(name)
    if (isDead || name.includes('silent')) return
    server.send(answerTo(message, name, type), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`]
})
afterEach(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

const resolver = () => createResolver({ servers, hostsPath: join(folder, 'hosts'), timeoutMs: 600 })
const names = (lookups = testBudgets().lookups) =>
  createNames({ resolver: resolver(), lookups, doubtMs: 100, retryMs: 100 })

describe('names for sites', () => {
  it('come from the hosts file, then from the name servers: IPv4, else IPv6', async () => {
    await writeFile(
      join(folder, 'hosts'),
      '# mine\n192.0.2.1 one.test ONE\n2001:db8::1 one.test # both\nnonsense two.test\n',
    )
    const { addressesOf } = names()
    expect(await addressesOf('One.test', 'a')).toEqual(['192.0.2.1', '2001:db8::1'])
    // The root is queried to check whether a server is alive, when a busy machine delays an answer.
    expect(asked.filter((name) => name !== '')).toEqual([])
    expect(await addressesOf('v4.test', 'a')).toEqual(['192.0.2.4'])
    expect(await addressesOf('v6.test', 'a')).toEqual(['2001:db8::6'])
    await expect(addressesOf('nowhere.test', 'a')).rejects.toThrow('ENOTFOUND')
    expect(await addressesOf('192.0.2.7', 'a')).toEqual(['192.0.2.7'])
    expect(await addressesOf('my.localhost', 'a')).toEqual(['127.0.0.1'])
    await writeFile(join(folder, 'hosts'), '192.0.2.99 v4.test\n')
    await vi.waitFor(async () => expect(await addressesOf('v4.test', 'a')).toEqual(['192.0.2.99']), 60_000)
  })

  it('harm no other site and no other name if their server is silent', async () => {
    const { addressesOf } = names()
    const silent = Array.from({ length: 16 }, (_, i) => addressesOf(`silent-${i}.test`, 'hostile').catch((e) => e))
    for (let i = 0; i < 5; i++) expect(await addressesOf('v4.test', 'good')).toEqual(['192.0.2.4'])
    for (const error of await Promise.all(silent)) expect(error.message).toBe('the name server does not respond')
    expect(asked).toContain('')
    expect(await addressesOf('v4.test', 'good')).toEqual(['192.0.2.4'])
    expect(await addressesOf('v4.test', 'hostile')).toEqual(['192.0.2.4'])
    // The site's own silent names fail at once. Another site still waits for them.
    await expect(addressesOf('SILENT-3.test', 'hostile')).rejects.toThrow('a moment ago')
    await expect(addressesOf('silent-3.test', 'good')).rejects.toThrow('the name server does not respond')
  })

  it('resolve in both address families for Stead’s own fetches, and fail if the server is silent', async () => {
    await writeFile(join(folder, 'hosts'), '192.0.2.1 one.test\n2001:db8::1 one.test\n')
    const resolve = (name: string) => systemResolve(name, resolver())
    const look = (name: string) => lookupPublic(name, { allowPrivate: true, resolve })
    expect(await look('one.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
    expect(await look('v4.test')).toEqual([{ address: '192.0.2.4', family: 4 }])
    expect(await look('v6.test')).toEqual([{ address: '2001:db8::6', family: 6 }])
    await expect(look('nowhere.test')).rejects.toThrow('nowhere.test could not be resolved')
    const silent = Array.from({ length: 64 }, (_, i) => look(`silent-${i}.test`).catch((error) => error))
    // More than the system has threads to wait in.
    expect(await look('v4.test')).toHaveLength(1)
    for (const error of await Promise.all(silent)) expect(error.message).toContain('could not be resolved')
  })

  it('fail at once while no name server responds', async () => {
    isDead = true
    const { addressesOf } = names()
    await expect(addressesOf('v4.test', 'a')).rejects.toThrow('the name server does not respond')
    await expect(addressesOf('v6.test', 'b')).rejects.toThrow('no name server responds')
    expect(asked).not.toContain('v6.test')
    isDead = false
    await vi.waitFor(async () => expect(await addressesOf('v6.test', 'b')).toEqual(['2001:db8::6']), 60_000)
  })

  it('have a limit of simultaneous lookups per site, independent of other sites', async () => {
    const { lookups } = testBudgets({ lookups: { each: 3, all: 5 } })
    const { addressesOf } = names(lookups)
    const silent = [1, 2, 3].map((i) => addressesOf(`silent-${i}.test`, 'hostile').catch((error) => error))
    await expect(addressesOf('v4.test', 'hostile')).rejects.toThrow('too many')
    expect(await addressesOf('v4.test', 'good')).toEqual(['192.0.2.4'])
    await Promise.all(silent)
    expect(lookups.used).toBe(0)
  })

  it('use no thread that file reads need', async () => {
    const { addressesOf } = names()
    const silent = Array.from({ length: 16 }, (_, i) =>
      addressesOf(`silent-${i}.test`, 'hostile').catch(() => 'given up'),
    )
    const first = await Promise.race([...silent, writeFile(join(folder, 'file'), 'text').then(() => 'written')])
    expect(first).toBe('written')
    await Promise.all(silent)
  })
})

function questionOf(message: Buffer): { name: string; type: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1) }
}

/** Builds an answer (RFC 1035 §4): the question again, with one address or none. */
function answerTo(query: Buffer, name: string, type: number): Buffer {
  const [a, aaaa] = [1, 28]
  const data =
    type === a && name === 'v4.test'
      ? Buffer.from([192, 0, 2, 4])
      : type === aaaa && name === 'v6.test'
        ? Buffer.from('20010db8000000000000000000000006', 'hex')
        : undefined
  const end = query.indexOf(0, 12) + 5
  const question = Buffer.from(query.subarray(0, end))
  question.writeUInt16BE(name === 'nowhere.test' ? 0x8183 : 0x8180, 2)
  question.writeUInt16BE(data ? 1 : 0, 6)
  question.writeUInt32BE(0, 8)
  if (!data) return question
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([question, head, data])
}
