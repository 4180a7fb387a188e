import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { countReads } from '../../../test/support/count-reads.ts'
import { dialects } from '../../../test/support/database.ts'
import type { EventStream } from '../../platform/http/event-streams.ts'
import { events } from '../performance/actions.ts'
import type { EventType } from './event.ts'
import { EventFeed } from './event-feed.ts'
import { recordEvent } from './record-event.ts'

const SOON = { timeout: 60_000, interval: 20 }

describe.each(dialects)('GET /v1/events on $dialect', { timeout: 120_000 }, ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  let port: number
  const closers: (() => unknown)[] = []

  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
    port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) close()
    await api?.close()
  })

  const happen = (
    number: number,
    { person = owner, type = events.light_weight_404_changed as EventType, site = siteId } = {},
  ) =>
    api.database.transaction((tx) =>
      recordEvent(tx, { type, accountId: person.accountId, siteId: site, data: { number }, now: Date.now() }),
    )
  const numbers = (list: readonly { data: { number: number } }[]) => list.map(({ data }) => data.number)
  const read = async (query = '') => (await owner.call('GET', `/v1/events${query}`)).body.data

  const open = async (headers: Record<string, string> = {}, query = '') => {
    const call = get({
      host: '127.0.0.1',
      port,
      path: `/v1/events${query}`,
      headers: { authorization: `Bearer ${owner.token}`, accept: 'text/event-stream', ...headers },
    })
    call.on('error', () => {})
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    closers.push(() => call.destroy())
    return {
      response,
      close: () => call.destroy(),
      ids: () => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id as string),
      seen: () => numbers([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))),
    }
  }

  test('numbers events of one transaction in the order in which they happened, and uses no number twice', async () => {
    const two = (first: number) =>
      api.database.transaction(async (tx) => {
        for (const number of [first, first + 1])
          await recordEvent(tx, {
            ...{ type: events.light_weight_404_changed, accountId: owner.accountId, siteId, data: { number } },
            now: Date.now(),
          })
      })
    for (const first of [1, 3, 5]) await two(first)
    const rows = await api.database.read.selectFrom('events').select(['seq', 'data']).orderBy('seq').execute()
    const mine = rows.map(({ seq, data }) => ({ seq: Number(seq), ...JSON.parse(data as string) }))
    expect(mine.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
    expect(mine.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('lists the newest first, and continues with `before`, or the oldest first with `after`', async () => {
    for (let number = 1; number <= 5; number++) await happen(number)
    const newest = await read('?per_page=2')
    expect(numbers(newest)).toEqual([5, 4])
    expect(newest[0]).toMatchObject({ type: 'light_weight_404_changed', account_id: owner.accountId, site_id: siteId })
    expect(numbers(await read(`?per_page=2&before=${newest[1].id}`))).toEqual([3, 2])
    const [third] = await read(`?per_page=1&before=${newest[1].id}`)
    expect(numbers(await read(`?after=${third.id}`))).toEqual([4, 5])
    expect(await read(`?after=${newest[0].id}`)).toEqual([])
  })

  test('lists only events of the account, and of the requested types and site', async () => {
    const stranger = await api.person('stranger@example.com')
    const theirs = await api.site(stranger, 'theirs')
    const other = await api.site(owner, 'other')
    await happen(1)
    await happen(2, { person: stranger, site: theirs })
    await happen(3, { site: other })
    await happen(4, { type: events.site_maintenance_mode_toggled })
    expect(numbers(await read())).toEqual([4, 3, 1])
    expect(numbers(await read(`?site_id=${siteId}`))).toEqual([4, 1])
    expect(await read(`?site_id=${theirs}`)).toEqual([])
    expect(numbers(await read('?type=site_maintenance_mode_toggled'))).toEqual([4])
    expect(numbers(await read('?type=site_maintenance_mode_toggled,light_weight_404_changed'))).toEqual([4, 3, 1])
  })

  test('400 for an invalid event id, and for a future one', async () => {
    for (const id of ['x', '7', 'evt_99999_00'])
      expect((await owner.call('GET', `/v1/events?after=${id}`)).body.errors).toEqual([
        'after: is not an event of this installation',
      ])
    const stream = await open({ 'last-event-id': 'evt_99999_00' })
    expect(stream.response.statusCode).toBe(400)
  })

  test('answers a client that connects before there is an event', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    try {
      // No heartbeat comes that would send the headers.
      expect((await open()).response.statusCode).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a stream reports new events, and a client that reconnects with `Last-Event-ID` misses none', async () => {
    await happen(0)
    const first = await open()
    expect(first.response.headers['content-type']).toBe('text/event-stream')
    await happen(1)
    await happen(2)
    await vi.waitFor(() => expect(first.seen()).toEqual([1, 2]), SOON)
    first.close()
    const missed = Array.from({ length: 250 }, (_, index) => index + 3)
    for (const number of missed) await happen(number)
    const second = await open({ 'last-event-id': first.ids().at(-1) as string })
    await vi.waitFor(() => expect(second.seen()).toEqual(missed), SOON)
    await happen(999)
    await vi.waitFor(() => expect(second.seen()).toEqual([...missed, 999]), SOON)
  })

  test('a stream keeps to its filter, and to its account', async () => {
    const stranger = await api.person('stranger@example.com')
    const stream = await open({}, '?type=site_maintenance_mode_toggled')
    await happen(1)
    await happen(2, { person: stranger, type: events.site_maintenance_mode_toggled })
    await happen(3, { type: events.site_maintenance_mode_toggled })
    await vi.waitFor(() => expect(stream.seen()).toEqual([3]), SOON)
  })

  test('stops polling for events when the last stream has closed', async () => {
    const feed = new EventFeed(api.database)
    closers.push(() => feed.close())
    const told: string[] = []
    const stream: EventStream = {
      send: (message) => told.push(message),
      whenTaken: (listener) => listener(),
      end() {},
    }
    const ends = [1, 2].map(() => feed.follow(stream, { accountId: owner.accountId }, 0))
    await happen(1)
    await vi.waitFor(() => expect(told).toHaveLength(2), SOON)
    ends[0]?.()
    await happen(2)
    const looked = countReads(api.database)
    closers.push(looked.stop)
    // With its own timer, besides notifications.
    await vi.waitFor(() => expect(looked.count()).toBeGreaterThan(0), SOON)
    ends[1]?.()
    // A poll that has begun may finish.
    await new Promise((resolve) => setTimeout(resolve, 200))
    const before = looked.count()
    await happen(3)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(looked.count()).toBe(before)
  })
})
