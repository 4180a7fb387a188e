import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../test/support/api.ts'
import { enqueue } from '../platform/operations/enqueue.ts'
import { configureSite } from '../resources/sites/switches/configure-site.job.ts'
import { ApiError, type Operation, OperationFailed, Stead } from './index.ts'

let api: TestApi
let url: string
let owner: Person
let id: number
let number = 0
beforeAll(async () => {
  api = await testApi('sqlite')
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  owner = await api.person('owner@example.com')
})
afterAll(() => api?.close())
beforeEach(async () => {
  const siteId = await api.site(owner, `site-${++number}`)
  const at = { siteId, accountId: owner.accountId, hostId: 1, runAt: Date.now() + 1e9 }
  id = await api.database.transaction((tx) => enqueue(tx, configureSite, { siteId }, at))
})

const change = (values: { progress?: number; error?: string; finished_at?: number; state?: 'succeeded' | 'failed' }) =>
  api.database.transaction((tx) => tx.updateTable('operations').set(values).where('id', '=', id).execute())
const client = (instead?: (path: string) => Response | undefined) =>
  new Stead({
    url,
    token: owner.token,
    retries: 0,
    fetch: async (input, init) => instead?.(new URL((input as Request).url).pathname) ?? fetch(input, init),
  })
const unavailable = () => Response.json({ errors: ['not now'] }, { status: 503 })

/** Changes the state as soon as the previous one was reported. */
const throughItsLife = (end: () => Promise<unknown>) => {
  const told: number[] = []
  const onProgress = async ({ progress }: Operation) => {
    told.push(progress)
    if (told.length === 1) await change({ progress: 40 })
    else if (told.length === 2) await end()
  }
  return { told, onProgress: (operation: Operation) => void onProgress(operation) }
}
const well = () => change({ state: 'succeeded', progress: 100, finished_at: Date.now() })

describe('waiting for an operation', () => {
  test('follows its events: reports each change, and returns the end', async () => {
    const { told, onProgress } = throughItsLife(well)
    const looks: string[] = []
    const stead = client((path) => void looks.push(path))
    expect(await stead.waitForOperation(id, { onProgress })).toMatchObject({ id, state: 'succeeded' })
    expect([told[0], told.at(-1)]).toEqual([0, 100])
    // Once for the stream, and once for the end.
    expect(looks).toEqual([`/v1/operations/${id}/events`, `/v1/operations/${id}`])
  })

  test('polls if events are not available', async () => {
    const { told, onProgress } = throughItsLife(well)
    const stead = client((path) => (path.endsWith('/events') ? unavailable() : undefined))
    expect(await stead.waitForOperation(id, { onProgress })).toMatchObject({ state: 'succeeded' })
    expect(told).toEqual([0, 40, 100])
  })

  test('continues after the API was down, and after a stream broke off', async () => {
    let calls = 0
    const first = new Response('event: operation\ndata: {"id":1,"progress":7,"finishedAt":null}\n\nevent: oper', {
      headers: { 'content-type': 'text/event-stream' },
    })
    const told: number[] = []
    const stead = client(() => {
      calls++
      if (calls === 1) return first
      if (calls <= 3) return unavailable()
      if (calls === 4) void well()
      return undefined
    })
    await stead.waitForOperation(id, { onProgress: ({ progress }) => void told.push(progress) })
    expect([told[0], told.at(-1)]).toEqual([7, 100])
  })

  test('throws a failure with its reason', async () => {
    await change({ state: 'failed', error: 'the disk is full', finished_at: Date.now() })
    const failure = await client()
      .waitForOperation(id)
      .catch((error) => error)
    expect(failure).toBeInstanceOf(OperationFailed)
    expect(failure.message).toBe('site.configure failed: the disk is full')
    expect(failure.operation).toMatchObject({ id, state: 'failed' })
  })

  test('ends at once for an operation that the caller cannot see, and after an abort', async () => {
    const failure = await client()
      .waitForOperation(999_999)
      .catch((error) => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure.status).toBe(404)
    const leave = new AbortController()
    const onProgress = () => leave.abort(new Error('enough'))
    await expect(client().waitForOperation(id, { onProgress, signal: leave.signal })).rejects.toThrow('enough')
  })
})
