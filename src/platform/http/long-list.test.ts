import { once } from 'node:events'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Log } from '../log/log.ts'
import { noLog } from '../log/log.ts'
import type { Endpoint } from './endpoint.ts'
import { readInParts } from './long-list.ts'
import { createLab, type Lab } from './test-support.ts'

const Entry = Type.Object({ id: Type.Integer(), text: Type.String() })
const entries = (ids: readonly number[]) => ids.map((id) => ({ id, text: 'ä"]}'.repeat(100), secret: 'not described' }))

/** The number of keys requested in each read. */
const reads: number[] = []
const list = (path: string, keys: number, read: (ids: readonly number[]) => Promise<object[]>): Endpoint => ({
  id: path,
  method: 'GET',
  path: `/v1/${path}`,
  tag: 'Lab',
  summary: 'Test',
  access: 'any',
  response: Type.Array(Entry),
  handle: () =>
    readInParts(
      Array.from({ length: keys }, (_, n) => n + 1),
      (ids) => {
        reads.push(ids.length)
        return read(ids)
      },
    ),
})

const failing = (at: number) => async (ids: readonly number[]) => {
  if (ids.includes(at)) throw new Error('the disk is gone')
  return entries(ids)
}
const endpoints = [
  list('long', 1050, async (ids) => entries(ids)),
  list('short', 100, async (ids) => entries(ids)),
  list('gone', 1050, async () => []),
  list('thinned', 1050, async (ids) => entries(ids.filter((id) => id % 200 === 0))),
  list('broken', 1050, failing(7)),
  list('broken-off', 1050, failing(600)),
  list('endless', 1_000_000, async (ids) => entries(ids)),
]

describe('a long list', () => {
  let lab: Lab
  const logged: object[] = []
  const log = { ...noLog, error: (what: object) => logged.push(what), isLevelEnabled: () => false } as unknown as Log
  beforeAll(async () => {
    lab = await createLab(endpoints, { log })
    await lab.app.listen({ port: 0, host: '127.0.0.1' })
  })
  beforeEach(() => {
    reads.length = 0
    logged.length = 0
  })
  afterAll(() => lab.close())

  const described = (ids: readonly number[]) => entries(ids).map(({ id, text }) => ({ id, text }))
  const data = async (path: string) => {
    const response = await lab.inject('GET', `/v1/${path}`)
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toMatchObject({ message: 'Success', errors: null })
    return response.json().data
  }
  const ask = async (path: string) => {
    const { port } = lab.app.server.address() as { port: number }
    const request = get({
      port,
      host: '127.0.0.1',
      path: `/v1/${path}`,
      agent: false,
      headers: { authorization: 'Bearer 1' },
    })
    const [response] = await once(request, 'response')
    return response
  }

  it('reads as one answer that matches the contract', async () => {
    expect(await data('long')).toEqual(described(Array.from({ length: 1050 }, (_, n) => n + 1)))
    expect(reads).toEqual([...Array(10).fill(100), 50])
  })

  it('is sent as a normal answer with its length if it is short', async () => {
    const response = await lab.inject('GET', '/v1/short')
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.body)))
    expect(response.json().data).toHaveLength(100)
  })

  it('is correct when all of it, or all of a part, is deleted before it is read', async () => {
    expect(await data('gone')).toEqual([])
    expect(await data('thinned')).toEqual(described([200, 400, 600, 800, 1000]))
  })

  it('has no content for HEAD, and is not read for it', async () => {
    const response = await lab.inject('HEAD', '/v1/long')
    expect([response.statusCode, response.body]).toEqual([200, ''])
    expect(reads).toEqual([100])
  })

  it('fails like any other answer while nothing has been sent', async () => {
    const response = await lab.inject('GET', '/v1/broken')
    expect([response.statusCode, response.json().code]).toEqual([500, 'internal'])
  })

  it('breaks off, and logs the failure, when it fails later', async () => {
    const response = await ask('broken-off')
    expect(response.statusCode).toBe(200)
    await expect(text(response)).rejects.toThrow('aborted')
    expect(logged).toMatchObject([{ err: { message: 'the disk is gone' }, path: '/v1/broken-off' }])
  })

  it('is read as fast as its client reads, and no further after the client leaves', async () => {
    const response = await ask('endless')
    await once(response, 'readable')
    // The kernel buffers some MB for a client that does not read; one part has 40 kB.
    let before = -1
    while (before !== reads.length) {
      before = reads.length
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(reads.length).toBeLessThan(1000)
    response.destroy()
    await once(response, 'close')
    await lab.inject('GET', '/v1/short')
    expect(reads.length).toBeLessThan(before + 5)
    expect(logged).toEqual([])
  })
})
