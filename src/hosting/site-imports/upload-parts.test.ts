import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { acceptRoles } from '../../platform/mtls/accept-roles.ts'
import { secureAddress } from '../../platform/mtls/connect-to-role.ts'
import { testAuthority } from '../../platform/mtls/test-support.ts'
import { createSendPart, HostAway } from './send-part.ts'
import { PartDoor, type UploadPart } from './upload-parts.ts'

let folder: string
let door: PartDoor
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-'))
  door = doorOf()
})
afterEach(() => rmSync(folder, { recursive: true }))

const doorOf = (keepFreeBytes = 0) => new PartDoor({ folderOf: (id) => join(folder, String(id)), keepFreeBytes })
const part = (offset: number, more: Partial<UploadPart> = {}): UploadPart => ({
  ...{ importId: 7, file: 1, offset, mostBytes: 100, sha256: null },
  ...more,
})
async function* bytesOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}
const there = () => readFileSync(join(folder, '7/1'), 'utf8')

describe('a part of an upload', () => {
  test('is appended to the file', async () => {
    expect(await door.take(part(0), bytesOf('ab', 'c'))).toEqual({ kind: 'taken', bytes: 3 })
    expect(await door.take(part(3), bytesOf('de'))).toEqual({ kind: 'taken', bytes: 5 })
    expect(there()).toBe('abcde')
  })

  test.each([0, 2, 4])('changes nothing if it begins elsewhere, at %d', async (offset) => {
    await door.take(part(0), bytesOf('abc'))
    expect(await door.take(part(offset), bytesOf('xyz'))).toEqual({ kind: 'elsewhere', bytes: 3 })
    expect(there()).toBe('abc')
  })

  test('leaves nothing if it is cut off', async () => {
    await door.take(part(0), bytesOf('abc'))
    async function* cutOff() {
      yield Buffer.from('de')
      throw new Error('gone')
    }
    await expect(door.take(part(3), cutOff())).rejects.toThrow('gone')
    expect([there(), readdirSync(join(folder, '7'))]).toEqual(['abc', ['1']])
  })

  test('is refused if it arrives damaged, or is too long', async () => {
    const sha256 = createHash('sha256').update('abc').digest('hex')
    expect(await door.take(part(0, { sha256 }), bytesOf('abd'))).toEqual({ kind: 'damaged' })
    expect(await door.take(part(0, { mostBytes: 2 }), bytesOf('abc'))).toEqual({ kind: 'too-long' })
    expect(readdirSync(join(folder, '7'))).toEqual([])
    expect(await door.take(part(0, { sha256 }), bytesOf('abc'))).toEqual({ kind: 'taken', bytes: 3 })
  })

  test('is taken once of two that arrive at the same time', async () => {
    const both = [door.take(part(0), bytesOf('first')), door.take(part(0), bytesOf('other'))]
    expect((await Promise.all(both)).map(({ kind }) => kind).sort()).toEqual(['elsewhere', 'taken'])
    expect(there()).toHaveLength(5)
  })

  test('is refused when the disk has no room for the rest of the file', async () => {
    expect(await doorOf(Number.MAX_SAFE_INTEGER).take(part(0), bytesOf('a'))).toEqual({ kind: 'full' })
  })

  test('is refused while 16 others arrive', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    async function* slow() {
      yield Buffer.from('a')
      await ended
    }
    const others = Array.from({ length: 16 }, (_, file) => door.take(part(0, { file: file + 10 }), slow()))
    expect(await door.take(part(0), bytesOf('a'))).toEqual({ kind: 'busy' })
    end()
    await Promise.all(others)
    expect(await door.take(part(0), bytesOf('a'))).toEqual({ kind: 'taken', bytes: 1 })
  })

  test('removes the drafts of a process that died', async () => {
    await door.take(part(0), bytesOf('a'))
    writeFileSync(join(folder, '7/.dead.0'), 'half')
    await doorOf().take(part(1), bytesOf('b'))
    expect(readdirSync(join(folder, '7'))).toEqual(['1'])
  })
})

describe('between control and host', () => {
  let server: Server
  let host: string
  beforeEach(async () => {
    server = createServer((request, response) => {
      if (request.headers['x-stead-key'] !== 'key') response.writeHead(403).end()
      else door.answer(request, response).catch(() => response.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    server.close()
  })
  const content = (bytes: number | undefined, ...texts: string[]) => ({
    bytes,
    [Symbol.asyncIterator]: () => bytesOf(...texts),
  })

  test('passes parts, with and without a length', async () => {
    const send = createSendPart('key')
    expect(await send(host, part(0), content(3, 'abc'))).toEqual({ kind: 'taken', bytes: 3 })
    expect(await send(host, part(3), content(undefined, 'd', 'e'))).toEqual({ kind: 'taken', bytes: 5 })
    expect(there()).toBe('abcde')
  })

  test('passes a refusal, however much data is in transit', async () => {
    const much = Array.from({ length: 200 }, () => 'x'.repeat(65_536))
    const send = createSendPart('key')
    expect(await send(host, part(9), content(undefined, ...much))).toEqual({ kind: 'elsewhere', bytes: 0 })
  })

  test('fails when the client leaves, and the host keeps nothing', async () => {
    const going = {
      bytes: 10,
      async *[Symbol.asyncIterator]() {
        yield Buffer.from('abc')
        throw new Error('the client has gone')
      },
    }
    await expect(createSendPart('key')(host, part(0), going)).rejects.toThrow('the client has gone')
    while (readdirSync(folder).length > 0 && readdirSync(join(folder, '7')).length > 0)
      await new Promise((resolve) => setImmediate(resolve))
  })

  test('reports the host as away for a wrong key, or when nothing listens', async () => {
    await expect(createSendPart('other')(host, part(0), content(1, 'a'))).rejects.toThrow(HostAway)
    await expect(createSendPart('key')('http://127.0.0.1:9', part(0), content(1, 'a'))).rejects.toThrow(HostAway)
  })

  test('go over TLS to a host on another machine, if it is the one in the address', async () => {
    const ours = await testAuthority()
    const secure = createServer((request, response) => void door.answer(request, response))
    const options = { roles: ['control'] as const, isPlainAllowed: () => false, onRefused() {} }
    const end = acceptRoles(secure, { ...options, trust: await ours.trustOf({ role: 'host', name: 'h1' }) })
    secure.listen(0, '127.0.0.1')
    await once(secure, 'listening')
    const at = (name: string) => secureAddress(`http://127.0.0.1:${(secure.address() as AddressInfo).port}`, name)
    const send = createSendPart('key', await ours.trustOf({ role: 'control', name: 'c1' }))
    expect(await send(at('h1'), part(0), content(3, 'abc'))).toEqual({ kind: 'taken', bytes: 3 })
    await expect(send(at('h2'), part(3), content(1, 'd'))).rejects.toThrow(HostAway)
    await expect(createSendPart('key')(at('h1'), part(3), content(1, 'd'))).rejects.toThrow(HostAway)
    expect(there()).toBe('abc')
    secure.close()
    end()
  })
})
