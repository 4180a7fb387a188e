import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type S3Server, s3Server } from '../../../test/support/s3-server.ts'
import { StorageFailure } from '../backup-store.ts'
import type { S3Options } from './s3-storage.ts'
import { requestSigner } from './sign-requests.ts'
import { type Signature, type SignatureRequest, type StorageSigner, signedStorage } from './signed-storage.ts'
import { StorageRefusal } from './storage.ts'

const bytes = Buffer.from('0123456789')
const closing: (() => Promise<unknown>)[] = []
let asked: SignatureRequest[][]
beforeEach(() => {
  asked = []
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Signs everything. */
function signerOf(options: S3Options, more: Partial<StorageSigner> = {}): StorageSigner {
  const sign = requestSigner(options)
  return {
    async sign(requests) {
      asked.push([...requests])
      return Promise.all(requests.map((each) => sign(each, { isOnce: !each.isPlain })))
    },
    async remove() {},
    ...more,
  }
}
const optionsOf = (endpoint: string, more: Partial<S3Options> = {}): S3Options => ({
  ...{ bucket: 'backups', endpoint, region: 'us-east-1', prefix: 'of stead' },
  credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  ...more,
})
async function bucket(): Promise<S3Server> {
  const server = await s3Server()
  closing.push(() => server.close())
  return server
}
async function service(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const openOn = (endpoint: string, more?: Partial<StorageSigner>) =>
  signedStorage(optionsOf(endpoint), signerOf(optionsOf(endpoint), more))

test('stores, reads and lists objects with one question for each, and none for what it has just read', async () => {
  const { url } = await bucket()
  const storage = openOn(url)
  await storage.put('site-1/packs/a', bytes)
  expect(String(await storage.get('site-1/packs/a'))).toBe('0123456789')
  expect(String(await storage.get('site-1/packs/a', { start: 2, length: 3 }))).toBe('234')
  expect(String(await storage.get('site-1/packs/a', { start: 50 }))).toBe('')
  expect(await storage.get('site-1/packs/b')).toBeUndefined()
  expect((await storage.list('site-1/')).map(({ name }) => name)).toEqual(['site-1/packs/a'])
  expect(asked.map((each) => each.map(({ kind }) => kind))).toEqual([['put'], ['get'], ['get'], ['list']])
})

test('asks for the signatures of parallel requests together', async () => {
  const { url } = await bucket()
  const storage = openOn(url)
  await Promise.all(Array.from({ length: 20 }, (_, n) => storage.get(`site-1/packs/${n}`)))
  expect(asked.map(({ length }) => length)).toEqual([1, 19])
})

test('signs for Amazon in the form that its buckets have', async () => {
  const sign = requestSigner({ ...optionsOf(''), endpoint: undefined, region: 'eu-central-1' })
  const { url } = await sign({ kind: 'get', name: 'site-1/packs/a' })
  expect(url).toMatch(/^https:\/\/backups\.s3\.eu-central-1\.amazonaws\.com\/of%20stead\/site-1\/packs\/a\?/)
})

describe('an object that exists', () => {
  test('is not replaced, and the same content counts as written', async () => {
    const { url } = await bucket()
    const storage = openOn(url, { sign: async () => [{ exists: true }] })
    expect(await storage.putOnce('a', bytes)).toBe(false)
    const known = openOn(url)
    await known.put('a', bytes)
    // The service keeps it, or the control says that it exists.
    const kept = openOn(url, { sign: async (requests) => signaturesOf(requests, url) })
    await kept.put('a', bytes)
    await expect(kept.put('a', Buffer.from('other'))).rejects.toThrow('exists with other content')
    expect(String(await known.get('a'))).toBe('0123456789')
  })

  const signaturesOf = async (requests: readonly SignatureRequest[], url: string): Promise<Signature[]> =>
    Promise.all(requests.map((each) => (each.kind === 'put' ? { exists: true } : requestSigner(optionsOf(url))(each))))

  test.each([412, 409])('and that the service keeps with %i is not replaced', async (status) => {
    const url = await service((request, response) => {
      request.resume()
      response.statusCode = request.method === 'PUT' && request.headers['if-none-match'] === '*' ? status : 500
      response.end()
    })
    expect(await openOn(url).putOnce('a', bytes)).toBe(false)
  })
})

test('writes without the condition where the service does not support it', async () => {
  const conditions: unknown[] = []
  const url = await service((request, response) => {
    request.resume()
    conditions.push(request.headers['if-none-match'])
    response.statusCode = request.headers['if-none-match'] ? 501 : 200
    response.end()
  })
  expect(await openOn(url).putOnce('a', bytes)).toBe(true)
  expect(conditions).toEqual(['*', undefined])
})

test('asks for another signature if the service says that one is too old', async () => {
  let refusals = 0
  const url = await service((_, response) => {
    response.statusCode = refusals-- > 0 ? 403 : 200
    response.end('x')
  })
  const storage = openOn(url)
  await storage.get('a')
  refusals = 1
  expect(String(await storage.get('a'))).toBe('x')
  expect(asked).toHaveLength(2)
  refusals = 2
  await expect(storage.get('a')).rejects.toThrow(StorageRefusal)
})

test('sends nothing of its own that S3 would count as part of the request', async () => {
  let headers: IncomingMessage['headers'] = {}
  const url = await service((request, response) => {
    headers = request.headers
    request.resume()
    response.end()
  })
  await openOn(url).put('a', bytes)
  const names = Object.keys(headers).filter((name) => name.startsWith('x-amz-') || name.startsWith('amz-'))
  const signed = /SignedHeaders=([^,]+)/.exec(String(headers.authorization))?.[1]?.split(';') ?? []
  expect(names.filter((name) => !signed.includes(name))).toEqual([])
  expect(headers['content-length']).toBe('10')
})

test('says what the signer refuses, and what failed there', async () => {
  const refusing = openOn('http://127.0.0.1:1', { sign: async () => [{ refused: 'not yours' }] })
  await expect(refusing.get('a')).rejects.toThrow(StorageRefusal)
  await expect(refusing.folders()).rejects.toThrow('only the backups of its own sites')
  const failing = openOn('http://127.0.0.1:1', { sign: async () => [{ failed: 'no storage' }] })
  const error = await failing.get('a').catch((failure) => failure)
  expect([error.message, error instanceof StorageFailure, error instanceof StorageRefusal]).toEqual([
    ...['no storage', true, false],
  ])
  const short = openOn('http://127.0.0.1:1', { sign: async () => [] })
  await expect(short.get('a')).rejects.toThrow('another number of requests')
})

test('names objects to remove in groups', async () => {
  const groups: number[] = []
  const storage = openOn('http://127.0.0.1:1', { remove: async ({ length }) => void groups.push(length) })
  await storage.remove(Array.from({ length: 250 }, (_, n) => `site-1/packs/${n}`))
  expect(groups).toEqual([100, 100, 50])
})
