import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import { end, raise, tellAt } from '../alerts.fixture.ts'
import { chatBody } from './chat-message.ts'
import { sendChats } from './send-chats.job.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test.each([
  ['https://hooks.slack.com/services/a', 'a <!channel> & @all', '{"text":"a &lt;!channel&gt; &amp; @\u200ball"}'],
  [
    'https://discord.com/api/webhooks/1/a',
    '<@1> @everyone',
    '{"content":"<@\u200b1> @\u200beveryone","allowed_mentions":{"parse":[]}}',
  ],
  ['https://discord.com/api/webhooks/1/a/slack', 'a', '{"text":"a"}'],
  ['https://notdiscord.com/api/webhooks/1/a', 'a', '{"text":"a"}'],
])('%s gets %s as %s', (url, text, body) => expect(chatBody(url, text)).toBe(body))

describe.each(dialects)('chat rooms on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let site: number
  let server: Server
  let url: string
  let now: number
  let status: number
  let got: string[]
  let stop: (() => Promise<unknown>) | undefined
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.now()
    status = 200
    got = []
    server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (piece) => (text += piece))
      request.on('end', () => {
        got.push(JSON.parse(text).text)
        response.writeHead(status).end()
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/secret`
    api = await testApi(dialect, { now: () => now, settings: { STEAD_ALLOW_PRIVATE_FETCH: 'true' } })
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'shop')
    const services = { database: api.database, config: api.config, sealer: api.sealer }
    const worker = startWorker(api.database, [sendChats], { services, clock: () => now })
    stop = () => worker.stop(1000)
  })
  afterEach(async () => {
    await stop?.()
    await api?.close()
    server?.close()
  })

  const send = async (at: number) => {
    now = at
    await tellAt(api, at)
    const id = await api.database.transaction((tx) => enqueue(tx, sendChats, {}, { siteId: null }))
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  }
  const add = async (more: object = {}) =>
    (await owner.call('POST', '/v1/alerts/chats', { url, description: '#ops', ...more })).body.data
  const shown = async () => (await owner.call('GET', '/v1/alerts/chats')).body.data[0]

  test('a room gets alerts, gathered, and their ends; nobody reads its address again', async () => {
    const from = now
    const room = await add()
    expect(room).toMatchObject({ host: new URL(url).host, description: '#ops', kinds: null, sent_at: null })
    expect(JSON.stringify([room, await shown()])).not.toContain('secret')
    const rows = await api.database.read.selectFrom('alert_chats').select('url_sealed').execute()
    expect(rows[0]?.url_sealed).not.toContain('secret')
    await raise(api, site, from)
    await raise(api, await api.site(owner, 'blog'), from)
    await send(from)
    expect(got).toEqual([])
    await send(from + MINUTE)
    expect(got).toHaveLength(1)
    expect(got[0]).toContain('Alert: shop is down. The front page answers 502\nAlert: blog is down.')
    expect(got[0]).toContain('/#/alerts')
    expect((await shown()).sent_at).toBe(new Date(from + MINUTE).toISOString())
    await end(api, site, from + 5 * MINUTE)
    await send(from + 5 * MINUTE)
    await send(from + 6 * MINUTE)
    await send(from + 7 * MINUTE)
    expect(got).toHaveLength(2)
    expect(got[1]).toMatch(/^Resolved: shop is no longer down\n/)
  })

  test('chosen kinds, mutes and lost sites decide what a room gets', async () => {
    const from = now
    await add({ kinds: ['certificate_expiring'] })
    await raise(api, site, from)
    await send(from)
    await send(from + MINUTE)
    expect(got).toEqual([])
    await raise(api, site, from, { kind: 'certificate_expiring', subject: 'a.test' })
    await owner.call('POST', '/v1/alerts/mutes', { site_id: site })
    await send(from + MINUTE)
    await send(from + 2 * MINUTE)
    expect(got).toEqual([])
    const left = api.database.read.selectFrom('alert_notices').selectAll().where('chat_id', '>', 0)
    expect(await left.execute()).toEqual([])
  })

  test('a room that refuses is tried again less and less often, and after a day it misses messages', async () => {
    const from = now
    await add()
    status = 404
    await raise(api, site, from)
    await send(from)
    await send(from + MINUTE)
    await send(from + MINUTE + 1)
    expect(got).toHaveLength(1)
    const fault = 'The chat program answered with status 404.'
    expect(await shown()).toMatchObject({ failing_since: new Date(from + MINUTE).toISOString(), fault })
    status = 200
    await send(from + 3 * MINUTE)
    expect(got).toHaveLength(2)
    expect(await shown()).toMatchObject({ failing_since: null, fault: null })
    status = 500
    await end(api, site, from + 2 * HOUR)
    await send(from + 2 * HOUR)
    await send(from + 2 * HOUR + MINUTE)
    await send(from + 27 * HOUR)
    status = 200
    await send(from + 29 * HOUR)
    expect(got).toHaveLength(4)
  })

  test('a test message arrives at once, and tells why it did not', async () => {
    const from = now
    const { id } = await add()
    await owner.call('POST', `/v1/alerts/chats/${id}/test`)
    await send(from)
    expect(got).toEqual(['Test message of Stead: alerts will arrive here.'])
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    await owner.call('POST', `/v1/alerts/chats/${id}/test`)
    await send(from + 1)
    expect((await shown()).fault).toBe(`${new URL(url).host} could not be reached.`)
    expect((await owner.call('DELETE', `/v1/alerts/chats/${id}`)).status).toBe(200)
    expect(await shown()).toBeUndefined()
  })

  test('400: an address that leads inside, or is none', async () => {
    const strict = await testApi(dialect)
    const person = await strict.person('owner@example.com')
    for (const bad of ['http://127.0.0.1/a', 'nonsense', 'https://user:pass@chat.example.com/a'])
      expect((await person.call('POST', '/v1/alerts/chats', { url: bad })).status).toBe(400)
    await strict.close()
  })
})
