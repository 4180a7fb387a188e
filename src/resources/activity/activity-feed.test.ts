import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { ChangeFeed } from '../../platform/db/changes.ts'
import { announce } from '../../platform/db/database.ts'
import { noLog } from '../../platform/log/log.ts'
import { ActivityFeed } from './activity-feed.ts'

describe.each(dialects)('GET /v1/activity as a stream ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let helper: Person
  let shop: number
  let port: number
  const closers: (() => unknown)[] = []
  beforeEach(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    helper = await api.person('helper@example.com')
    shop = await api.site(owner, 'shop')
    port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) close()
    await api.close()
  })

  const open = async (person: Person, headers: Record<string, string> = {}) => {
    const call = get({
      ...{ host: '127.0.0.1', port, path: '/v1/activity' },
      headers: { authorization: `Bearer ${person.token}`, accept: 'text/event-stream', ...headers },
    })
    call.on('error', () => {})
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    closers.push(() => call.destroy())
    return {
      status: response.statusCode,
      text: () => text,
      messages: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string).message),
      lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] as string,
    }
  }
  const write = (site: number, subject: string) => owner.call('POST', `/v1/sites/${site}/notes`, { subject, body: 'x' })
  /** The notes have the numbers of their order. */
  const about = (messages: readonly string[]) => messages.map((message) => `n${/note (\d+)$/.exec(message)?.[1]}`)

  test('shows the owner all of its sites, a collaborator its sites, and others nothing', async () => {
    const other = await api.site(owner, 'other')
    await api.collaborate(helper, shop, [])
    const stranger = await api.person('stranger@example.com')
    const [ofOwner, ofHelper, ofStranger] = [await open(owner), await open(helper), await open(stranger)]
    await write(other, 'n1')
    await write(shop, 'n2')
    await expect.poll(() => about(ofOwner.messages())).toEqual(['n1', 'n2'])
    await expect.poll(() => about(ofHelper.messages())).toEqual(['n2'])
    const own = await api.site(stranger, 'own')
    await stranger.call('POST', `/v1/sites/${own}/notes`, { subject: 'n3', body: 'x' })
    await expect.poll(() => about(ofStranger.messages())).toEqual(['n3'])
    expect(ofHelper.text()).toContain(`"site_id":${shop}`)
  })

  test('sends missed entries to clients that reconnect, and new ones to others', async () => {
    await write(shop, 'n1')
    const first = await open(owner)
    await write(shop, 'n2')
    await expect.poll(() => about(first.messages())).toEqual(['n2'])
    const seen = first.lastId()
    await write(shop, 'n3')
    await expect.poll(() => about(first.messages())).toEqual(['n2', 'n3'])
    const again = await open(owner, { 'last-event-id': seen })
    await expect.poll(() => about(again.messages())).toEqual(['n3'])
    for (const close of closers.splice(0)) close()
    // Even if no client was connected meanwhile.
    await write(shop, 'n4')
    const alone = await open(owner, { 'last-event-id': seen })
    await expect.poll(() => about(alone.messages())).toEqual(['n3', 'n4'])
    const refused = await open(owner, { 'last-event-id': 'x' })
    expect(refused.status).toBe(400)
    await expect.poll(() => refused.text()).toContain('Last-Event-ID: must be the id of an entry in an activity log')
  })

  test('a client that leaves does not affect the others', async () => {
    const [leaving, staying] = [await open(owner), await open(owner)]
    expect(leaving.status).toBe(200)
    closers.shift()?.()
    const connections = () => new Promise((resolve) => api.app.server.getConnections((_error, count) => resolve(count)))
    await expect.poll(connections).toBe(1)
    await write(shop, 'n1')
    await expect.poll(() => about(staying.messages())).toEqual(['n1'])
  })

  test('an entry that becomes visible after one with a higher number is sent for ten seconds, and ignored afterwards', async () => {
    let isHeard = false
    const subscribe: ChangeFeed['subscribe'] = (...asked) => {
      const end = api.database.changes.subscribe(...asked)
      isHeard = true
      return () => {
        isHeard = false
        end()
      }
    }
    const feed = new ActivityFeed({ ...api.database, changes: { ...api.database.changes, subscribe } })
    let clock = performance.now() + 60_000
    const now = vi.spyOn(performance, 'now').mockImplementation(() => clock)
    closers.push(() => now.mockRestore())
    const told: string[] = []
    let taken = () => {}
    const stream = {
      send(text: string) {
        told.push(...[...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id as string))
        queueMicrotask(taken)
      },
      whenTaken(listener: () => void) {
        taken = listener
        listener()
      },
      end() {},
    }
    let late = ''
    let takenLate = () => {}
    const slow = {
      send: (text: string) => {
        late = text
      },
      whenTaken: (listener: () => void) => {
        takenLate = listener
      },
      end() {},
    }
    await write(shop, 'n1')
    const first = await api.database.read.selectFrom('activity').selectAll().executeTakeFirstOrThrow()
    const add = (id: number) =>
      api.database.transaction(async (tx) => {
        await tx
          .insertInto('activity')
          .values({ ...first, id })
          .execute()
        await announce(tx, 'events')
      })
    const leave = feed.follow(stream, owner.accountId, first.id)
    const leaveLate = feed.follow(slow, owner.accountId, first.id)
    closers.push(leave, leaveLate)
    await add(first.id + 10)
    await expect.poll(() => told).toHaveLength(1)
    // A slow client gets it when it reads.
    takenLate()
    expect(late).toContain(`id: ${first.id + 10}\n`)
    leaveLate()
    await add(first.id + 5)
    await expect.poll(() => told).toHaveLength(2)
    clock += 10_001
    await add(first.id + 20)
    await expect.poll(() => told).toHaveLength(3)
    clock += 1000
    await add(first.id + 7)
    await add(first.id + 21)
    await expect.poll(() => told).toHaveLength(4)
    expect(told.map((id) => Number(id) - first.id)).toEqual([10, 5, 20, 21])
    expect(isHeard).toBe(true)
    leave()
    expect(isHeard).toBe(false)
  })

  test('a client that missed more than is sent reloads everything', async () => {
    const entry = await api.database.read.selectFrom('activity').selectAll().limit(1).execute()
    expect(entry).toEqual([])
    await write(shop, 'n1')
    const { id: _, ...row } = await api.database.read.selectFrom('activity').selectAll().executeTakeFirstOrThrow()
    await api.database.transaction(async (tx) => {
      for (let hundreds = 0; hundreds < 6; hundreds++)
        await tx
          .insertInto('activity')
          .values(Array.from({ length: 100 }, () => row))
          .execute()
    })
    const late = await open(owner, { 'last-event-id': '1' })
    await expect.poll(() => late.text()).toContain('event: missed')
  })

  test('a client that disconnects is not an error', async () => {
    const faults: unknown[] = []
    const own = await testApi(dialect, {
      log: {
        ...noLog,
        error: (...said: unknown[]) => void faults.push(said),
        warn: (...said: unknown[]) => void faults.push(said),
      },
    })
    closers.push(() => own.close())
    const listener = await own.person('listener@example.com')
    const call = get({
      ...{ host: '127.0.0.1', port: Number(new URL(await own.app.listen({ host: '127.0.0.1', port: 0 })).port) },
      ...{ path: '/v1/activity', headers: { authorization: `Bearer ${listener.token}`, accept: 'text/event-stream' } },
    })
    call.on('error', () => {})
    await once(call, 'response')
    call.destroy()
    await expect
      .poll(() => new Promise((resolve) => own.app.server.getConnections((_error, count) => resolve(count))))
      .toBe(0)
    await own.call('GET', '/v1/activity')
    expect(faults).toEqual([])
  })

  test('the end of a session ends its stream', async () => {
    const { cookie } = { cookie: `stead_session=${owner.sessionToken}` }
    const call = get({
      ...{ host: '127.0.0.1', port, path: '/v1/activity' },
      headers: { cookie, accept: 'text/event-stream', host: 'localhost:80', 'sec-fetch-site': 'same-origin' },
    })
    call.on('error', () => {})
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    response.resume()
    const ended = once(response, 'close')
    await owner.browse('DELETE', '/v1/session')
    await ended
  })
})
