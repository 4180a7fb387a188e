import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Webhook as Verifier } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { plansOf, wholeTableReads } from '../../../../test/support/plans.ts'
import { type Log, noLog } from '../../../platform/log/log.ts'
import { countMail } from '../../../platform/mail/mail-limit.ts'
import { readDatabaseTime } from '../../../platform/operations/worker/lease.ts'
import { events } from '../../performance/actions.ts'
import { recordEvent } from '../record-event.ts'
import { webhookCounts } from '../webhook-counts.store.ts'
import { createWebhookMetrics } from '../webhook-metrics.ts'
import { type ClaimedDelivery, claimDeliveries, findDue, release } from './claim-deliveries.store.ts'
import { forgetEnded, forgetTestsBefore } from './delivery.store.ts'
import { firstOfLine, handOut } from './hand-out.store.ts'
import { PATIENCE_MS, recordOutcome } from './record-outcome.ts'
import { WebhookSender } from './webhook-sender.ts'

interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

const FOREVER = { timeout: 60_000, interval: 20 }

describe.each(dialects)('deliveries on $dialect', { timeout: 120_000 }, ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  let received: Received[]
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let base: string
  const closers: (() => unknown)[] = []

  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect, { settings: { STEAD_ALLOW_PRIVATE_FETCH: 'true' } })
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
    received = []
    answer = (_request, response) => response.writeHead(204).end()
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      received.push({ path: request.url as string, headers: request.headers as Record<string, string>, body })
      answer(request, response)
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    closers.push(
      () => server.close(),
      () => server.closeAllConnections(),
    )
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
    await api?.close()
  })

  const startSender = (
    options: { now?: () => number; ended?: (isGood: boolean) => void; allowPrivate?: boolean; log?: Log } = {},
  ) => {
    const { database, sealer } = api
    const sender = new WebhookSender({ database, sealer, allowPrivate: true, log: noLog, ...options })
    sender.start()
    closers.push(() => sender.stop(0))
    return sender
  }
  const add = async (fields: object = {}) => {
    const { body, status } = await owner.call('POST', '/v1/webhooks', { url: `${base}/hook`, ...fields })
    expect([status, body.errors]).toEqual([200, null])
    return body.data as { id: number; secret: string }
  }
  const happen = (data: object, of: number | null = siteId) =>
    api.database.transaction((tx) =>
      recordEvent(tx, {
        type: events.light_weight_404_changed,
        accountId: owner.accountId,
        siteId: of,
        data,
        now: Date.now(),
      }),
    )
  const deliveriesOf = async (id: number) => (await owner.call('GET', `/v1/webhooks/${id}/deliveries`)).body.data
  const webhookOf = async (id: number) => (await owner.call('GET', `/v1/webhooks/${id}`)).body.data
  /** Makes deliveries that wait for a retry due now. */
  const passTime = () =>
    api.database.transaction((tx) =>
      tx.updateTable('webhook_deliveries').set({ due_at: 0 }).where('due_at', 'is not', null).execute(),
    )

  test('an event arrives once, signed so that the published library verifies it', async () => {
    const { id, secret } = await add()
    startSender()
    await happen({ enabled: true })
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.state).toBe('delivered'), FOREVER)
    const [{ headers, body }] = received as [Received]
    expect(new Verifier(secret).verify(body, headers)).toMatchObject({
      id: headers['webhook-id'],
      type: 'light_weight_404_changed',
      account_id: owner.accountId,
      site_id: siteId,
      data: { enabled: true },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    expect(headers['x-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'))
    expect(() => new Verifier(secret).verify(`${body} `, headers)).toThrow()
    const [delivery] = await deliveriesOf(id)
    expect(delivery).toMatchObject({
      event_id: headers['webhook-id'],
      attempts: [{ number: 1, status: 204, error: null }],
    })
    expect(received).toHaveLength(1)
  })

  test('both secrets sign after a rotation', async () => {
    const { id, secret } = await add()
    const rotated = await owner.call('PUT', `/v1/webhooks/${id}`, { rotate_secret: true })
    expect(rotated.body.data.secret).not.toBe(secret)
    startSender()
    await happen({})
    await vi.waitFor(() => expect(received).toHaveLength(1), FOREVER)
    const [{ headers, body }] = received as [Received]
    for (const each of [secret, rotated.body.data.secret]) new Verifier(each).verify(body, headers)
    // A day later the old one no longer does.
    await api.database.transaction((tx) => tx.updateTable('webhooks').set({ old_secret_until: 1 }).execute())
    await happen({})
    await vi.waitFor(() => expect(received).toHaveLength(2), FOREVER)
    expect(received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
  })

  test('retries a failed delivery with the same id, and later events of the site wait for it', async () => {
    const other = await api.site(owner, 'other')
    const { id } = await add()
    answer = (_request, response) =>
      response.writeHead(received.length === 1 ? 500 : 200).end(received.length === 1 ? 'no \u0000way' : '')
    startSender()
    await happen({ number: 1 })
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    await happen({ number: 2 })
    await happen({ number: 3 }, other)
    const numbers = () => received.map(({ body }) => JSON.parse(body).data.number)
    await vi.waitFor(() => expect(numbers()).toEqual([1, 3]), FOREVER)
    const [, waiting, first] = await deliveriesOf(id)
    expect(waiting).toMatchObject({ state: 'waiting', attempts: [], next_attempt_at: null })
    expect(first).toMatchObject({
      state: 'pending',
      attempts: [{ status: 500, answer: 'no �way', error: 'The receiver responded with status 500.' }],
    })
    await passTime()
    await vi.waitFor(() => expect(numbers()).toEqual([1, 3, 1, 2]), FOREVER)
    expect(received[2]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'])
    await vi.waitFor(async () => expect((await webhookOf(id)).failing_since).toBeNull(), FOREVER)
  })

  test('Retry-After delays the next attempt', async () => {
    const { id } = await add()
    answer = (_request, response) => response.writeHead(503, { 'retry-after': '7200' }).end()
    startSender()
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    const [{ next_attempt_at: at }] = await deliveriesOf(id)
    expect(Date.parse(at) - Date.now()).toBeGreaterThan(7_000_000)
  })

  test('gives up an event after the last attempt, and sends the next one of the site', async () => {
    const { id } = await add()
    answer = (_request, response) =>
      response.writeHead(JSON.parse(received.at(-1)?.body ?? '').data.bad ? 400 : 200).end()
    startSender()
    await happen({ bad: true })
    await happen({ bad: false })
    for (let attempt = 1; attempt <= 10; attempt++) {
      await vi.waitFor(async () => expect((await deliveriesOf(id)).at(-1)?.attempts).toHaveLength(attempt), FOREVER)
      if (attempt < 10) await passTime()
    }
    await vi.waitFor(
      async () =>
        expect((await deliveriesOf(id)).map(({ state }: { state: string }) => state)).toEqual(['delivered', 'failed']),
      FOREVER,
    )
    expect(received).toHaveLength(11)
  })

  test('410 disables the webhook, and its owner gets a mail', async () => {
    const { id } = await add()
    answer = (_request, response) => response.writeHead(410).end()
    startSender()
    await happen({ number: 1 })
    await happen({ number: 2 })
    await vi.waitFor(async () => expect((await webhookOf(id)).enabled).toBe(false), FOREVER)
    expect((await webhookOf(id)).disabled_reason).toContain('410')
    expect((await deliveriesOf(id)).map(({ state }: { state: string }) => state)).toEqual(['failed', 'failed'])
    const mail = await api.database.read
      .selectFrom('operations')
      .select('input')
      .where('type', '=', 'mail.send')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(mail.input)).toMatchObject({ to: owner.email, subject: expect.stringContaining('was disabled') })
    const log = await owner.call('POST', '/v1/account/logs/activity', {})
    expect(log.body.data[0]).toMatchObject({ name: 'settings', source: 'systems' })
    expect(received).toHaveLength(1)
  })

  test('disables a webhook at which nothing has arrived for five days', async () => {
    const { id } = await add()
    let now = Date.now()
    answer = (_request, response) => response.writeHead(500).end()
    startSender({ now: () => now })
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    now += PATIENCE_MS
    await passTime()
    await vi.waitFor(async () => expect((await webhookOf(id)).enabled).toBe(false), FOREVER)
    expect((await webhookOf(id)).disabled_reason).toContain('five days')
  })

  test('does not follow redirects', async () => {
    const { id } = await add()
    answer = (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end()
    startSender()
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    expect((await deliveriesOf(id))[0].attempts[0]).toMatchObject({
      status: 307,
      error: expect.stringContaining('redirects'),
    })
    expect(received.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('reads only the beginning of an endless response', async () => {
    const { id } = await add()
    answer = (_request, response) => void response.writeHead(200).write('x'.repeat(5000))
    startSender()
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.state).toBe('delivered'), FOREVER)
    expect((await deliveriesOf(id))[0].attempts[0].answer).toBe('x'.repeat(500))
  })

  test('receivers that hang do not delay others', async () => {
    const hanging = await Promise.all(Array.from({ length: 9 }, () => add({ url: `${base}/hang` })))
    const { id } = await add({ url: `${base}/quick` })
    answer = (request, response) => {
      if (request.url === '/quick') response.end()
    }
    startSender()
    for (let number = 1; number <= 20; number++) await happen({ number })
    const quick = () => received.filter(({ path }) => path === '/quick').map(({ body }) => JSON.parse(body).data.number)
    await vi.waitFor(() => expect(quick()).toEqual(Array.from({ length: 20 }, (_, index) => index + 1)), FOREVER)
    expect((await deliveriesOf(hanging[0]?.id as number)).at(-1).state).toBe('pending')
    expect((await deliveriesOf(id)).length).toBe(20)
  })

  test('two processes send nothing twice, and a dead one loses nothing', async () => {
    const { id } = await add()
    for (let number = 1; number <= 10; number++) await happen({ number }, number % 3 === 0 ? null : siteId)
    await handOut(api.database)
    // The state after a process was killed while it was sending.
    await api.database.transaction((tx) =>
      tx.updateTable('webhook_deliveries').set({ lease_owner: 'dead', lease_until: 1 }).execute(),
    )
    startSender()
    startSender()
    await vi.waitFor(
      async () =>
        expect((await deliveriesOf(id)).every(({ state }: { state: string }) => state === 'delivered')).toBe(true),
      FOREVER,
    )
    expect(received.map(({ body }) => JSON.parse(body).data.number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    )
  })

  test('does not miss an event whose transaction commits after a later one', async () => {
    const { id } = await add()
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let isWritten = () => {}
    const written = new Promise<void>((resolve) => {
      isWritten = resolve
    })
    const slow = api.database.transaction(async (tx) => {
      const event = { type: events.light_weight_404_changed, accountId: owner.accountId, siteId, now: Date.now() }
      await recordEvent(tx, { ...event, data: { number: 'slow' } })
      isWritten()
      await held
    })
    await written
    // SQLite has one writer at a time, so nothing can overtake there.
    if (dialect === 'postgres') await happen({ number: 'quick' })
    await handOut(api.database)
    commit()
    await slow
    await handOut(api.database)
    expect(await deliveriesOf(id)).toHaveLength(dialect === 'postgres' ? 2 : 1)
  })

  test('sends only the chosen events, none from before, and none of other accounts', async () => {
    const other = await api.site(owner, 'other')
    await happen({ number: 'before' })
    const { id } = await add({ event_types: ['light_weight_404_changed'], site_ids: [siteId] })
    const none = await add({ event_types: ['site_created'] })
    const stranger = await api.person('stranger@example.com')
    const theirs = await stranger.call('POST', '/v1/webhooks', { url: `${base}/theirs` })
    await happen({ number: 1 }, other)
    await happen({ number: 2 })
    await happen({ number: 3 }, null)
    await api.database.transaction((tx) =>
      recordEvent(tx, {
        ...{ type: events.light_weight_404_changed, accountId: stranger.accountId, siteId: null },
        ...{ data: { number: 4 }, now: Date.now() },
      }),
    )
    const all = await add()
    await happen({ number: 5 }, other)
    await handOut(api.database)
    expect(await deliveriesOf(id)).toHaveLength(1)
    expect(await deliveriesOf(all.id)).toHaveLength(1)
    expect(await deliveriesOf(none.id)).toHaveLength(0)
    const seen = await stranger.call('GET', `/v1/webhooks/${theirs.body.data.id}/deliveries`)
    expect(seen.body.data).toHaveLength(1)
  })

  test('sends tests and repeated deliveries at once, even past waiting ones', async () => {
    const { id } = await add()
    // It would otherwise not be retried for hours.
    answer = (_request, response) => response.writeHead(500, { 'retry-after': '7200' }).end()
    startSender()
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    answer = (_request, response) => response.end('thanks')
    const test = await owner.call('POST', `/v1/webhooks/${id}/test`)
    expect(test.body.data).toMatchObject({ type: 'test', state: 'pending' })
    const ended = async () => (await deliveriesOf(id)).find((each: { id: number }) => each.id === test.body.data.id)
    await vi.waitFor(async () => expect(await ended()).toMatchObject({ state: 'delivered' }), FOREVER)
    const first = (await deliveriesOf(id)).at(-1)
    await owner.call('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`)
    await vi.waitFor(async () => expect((await deliveriesOf(id)).at(-1).state).toBe('delivered'), FOREVER)
    const again = await owner.call('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`)
    expect(again.body.data).toMatchObject({ event_id: first.event_id, state: 'pending' })
    await vi.waitFor(() => expect(received).toHaveLength(4), FOREVER)
    expect(received[3]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'])
  })

  test('sending one past an earlier one of its site does not change that one’s schedule', async () => {
    const { id } = await add()
    answer = (_request, response) =>
      response.writeHead(received.length === 1 ? 503 : 200, { 'retry-after': '7200' }).end()
    startSender()
    await happen({ number: 1 })
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    await happen({ number: 2 })
    await vi.waitFor(async () => expect(await deliveriesOf(id)).toHaveLength(2), FOREVER)
    const [second, first] = await deliveriesOf(id)
    await owner.call('POST', `/v1/webhooks/${id}/deliveries/${second.id}/redeliver`)
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0].state).toBe('delivered'), FOREVER)
    expect((await deliveriesOf(id))[1]).toEqual(first)
  })

  test('sends nothing to a disabled webhook, and nothing from that time after it is enabled again', async () => {
    const { id } = await add()
    await happen({ number: 1 })
    await handOut(api.database)
    await owner.call('PUT', `/v1/webhooks/${id}`, { enabled: false })
    await happen({ number: 2 })
    await owner.call('PUT', `/v1/webhooks/${id}`, { enabled: true })
    await happen({ number: 3 })
    startSender()
    await vi.waitFor(() => expect(received).toHaveLength(1), FOREVER)
    expect(JSON.parse(received[0]?.body ?? '').data.number).toBe(3)
  })

  test('sends nothing to a name that leads to a private address', async () => {
    const { id } = await add()
    startSender({ allowPrivate: false })
    await happen({})
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.attempts).toHaveLength(1), FOREVER)
    const { status, error } = (await deliveriesOf(id))[0].attempts[0]
    expect([status, error]).toEqual([null, expect.stringContaining('public')])
    expect(received).toEqual([])
  })

  test('tries a test once, even for a disabled webhook, without effect on its health', async () => {
    const { id } = await add({ enabled: false })
    answer = (_request, response) => response.writeHead(500).end()
    startSender()
    await owner.call('POST', `/v1/webhooks/${id}/test`)
    await vi.waitFor(async () => expect((await deliveriesOf(id))[0].state).toBe('failed'), FOREVER)
    expect(await deliveriesOf(id)).toEqual([expect.objectContaining({ type: 'test', next_attempt_at: null })])
    expect((await webhookOf(id)).failing_since).toBeNull()
  })

  test('a claim is exclusive, an expired one writes nothing, and a released one is sent at once', async () => {
    await add()
    await happen({})
    await handOut(api.database)
    const due = async () => (await findDue(api.database, { eachMost: 4, most: 10, without: [] })).map((each) => each.id)
    const [id] = (await due()) as [number]
    const take = (owner: string) => api.database.transaction((tx) => claimDeliveries(tx, [id], owner))
    const [first] = (await take('first')) as [ClaimedDelivery]
    expect([await due(), await take('second')]).toEqual([[], []])
    await api.database.transaction((tx) => tx.updateTable('webhook_deliveries').set({ lease_until: 1 }).execute())
    const [second] = (await take('second')) as [ClaimedDelivery]
    const good = { startedAt: 1, durationMs: 1, status: 200, answer: '', error: null, retryAfterMs: 0 }
    const end = (claimed: ClaimedDelivery) =>
      api.database.transaction((tx) => recordOutcome(tx, claimed, good, Date.now()))
    expect(await end(first)).toBe(false)
    expect(await api.database.read.selectFrom('webhook_attempts').selectAll().execute()).toEqual([])
    await api.database.transaction((tx) => release(tx, 'first'))
    expect(await due()).toEqual([])
    await api.database.transaction((tx) => release(tx, 'second'))
    expect(await due()).toEqual([id])
    expect(await end(second)).toBe(false)
  })

  test('a process that stops releases what it could not finish', async () => {
    const { id } = await add()
    answer = () => {}
    const said: string[] = []
    const sender = startSender({ log: pino({ level: 'warn' }, { write: (line) => void said.push(line) }) })
    await happen({})
    await vi.waitFor(() => expect(received).toHaveLength(1), FOREVER)
    await sender.stop(0)
    // Stopping is not a failure.
    expect(said).toEqual([])
    expect(await findDue(api.database, { eachMost: 4, most: 10, without: [] })).toHaveLength(1)
    expect((await deliveriesOf(id))[0]).toMatchObject({ state: 'pending', attempts: [] })
  })

  test('an account over its hourly mail limit gets no mail about webhooks', async () => {
    const { id } = await add()
    await api.database.transaction(async (tx) => {
      const { accountId, email } = owner
      for (let says = 0; (await countMail(tx, { accountId, to: email, says: `${says}`, now: Date.now() })) === 'send'; )
        says++
    })
    answer = (_request, response) => response.writeHead(410).end()
    startSender()
    await happen({})
    await vi.waitFor(async () => expect((await webhookOf(id)).enabled).toBe(false), FOREVER)
    const mails = api.database.read.selectFrom('operations').select('id').where('type', '=', 'mail.send')
    expect(await mails.execute()).toEqual([])
  })

  test('disabling gives up what waits, and says so', async () => {
    const { id } = await add()
    await happen({ number: 1 })
    await happen({ number: 2 })
    await handOut(api.database)
    await owner.call('POST', `/v1/webhooks/${id}/test`)
    await owner.call('PUT', `/v1/webhooks/${id}`, { enabled: false })
    const states = async () => (await deliveriesOf(id)).map(({ state }: { state: string }) => state)
    // Deliveries that were sent by hand continue.
    expect(await states()).toEqual(['pending', 'failed', 'failed'])
  })

  test('counts how attempts end, and shows the state of webhooks', async () => {
    const [bad, good, off] = [await add({ url: `${base}/bad` }), await add(), await add()]
    await owner.call('PUT', `/v1/webhooks/${off.id}`, { enabled: false })
    answer = (request, response) => response.writeHead(request.url === '/bad' ? 500 : 200).end()
    await happen({ number: 1 })
    await handOut(api.database)
    const counts = async () => webhookCounts(api.database.read, await readDatabaseTime(api.database))
    expect(await counts()).toEqual({
      ...{ well: 2, failing: 0, disabled: 1, due: 2 },
      oldestSeconds: expect.any(Number),
    })
    const registry = new Registry()
    const sender = startSender({ ended: createWebhookMetrics(registry, () => sender.underWay) })
    await vi.waitFor(async () => expect((await webhookOf(bad.id)).failing_since).not.toBeNull(), FOREVER)
    await vi.waitFor(async () => expect((await deliveriesOf(good.id))[0].state).toBe('delivered'), FOREVER)
    expect(await counts()).toEqual({ well: 1, failing: 1, disabled: 1, due: 0, oldestSeconds: 0 })
    await vi.waitFor(async () => {
      const text = `${await registry.metrics()}\n`
      for (const line of [
        'stead_webhook_attempts_total{result="delivered"} 1',
        'stead_webhook_attempts_total{result="failed"} 1',
        'stead_webhook_attempts_under_way 0',
      ])
        expect(text).toContain(`${line}\n`)
    }, FOREVER)
  })

  test('finds the first of a line without reading ended deliveries', async () => {
    const plans = await plansOf(api, (tx) => firstOfLine(tx, 1, 1).execute())
    expect(plans.flatMap(wholeTableReads)).toEqual([])
    if (dialect === 'sqlite') expect(plans[0]?.plan).toContain('webhook_deliveries_line')
  })

  test('deletes tests by their age, but not events and their deliveries', async () => {
    const { id } = await add()
    await happen({})
    await handOut(api.database)
    const sent = [1, 2].map(() => owner.call('POST', `/v1/webhooks/${id}/test`))
    const [old, young] = (await Promise.all(sent)).map(({ body }) => body.data.id)
    await api.database.transaction((tx) =>
      tx.updateTable('webhook_deliveries').set({ created_at: 1 }).where('id', '<>', young).execute(),
    )
    const forget = () => api.database.transaction((tx) => forgetTestsBefore(tx, 2, 10))
    expect([await forget(), await forget()]).toEqual([1, 0])
    const left = (await deliveriesOf(id)).map((each: { id: number }) => each.id)
    expect([left.length, left.includes(young), left.includes(old)]).toEqual([2, true, false])
  })

  test('keeps the newest of the ended deliveries, and all that wait', async () => {
    const { id } = await add()
    for (let number = 1; number <= 6; number++) await happen({ number })
    await handOut(api.database)
    const [oldest] = (await deliveriesOf(id)).map((each: { id: number }) => each.id).toReversed()
    const ended = { state: 'delivered', due_at: null, finished_at: 1 } as const
    await api.database.transaction((tx) =>
      tx.updateTable('webhook_deliveries').set(ended).where('id', '<>', oldest).execute(),
    )
    const forget = () => api.database.transaction((tx) => forgetEnded(tx, id, 2, 2))
    expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0])
    const left = (await deliveriesOf(id)).map((each: { id: number }) => each.id)
    expect([left.length, left.includes(oldest)]).toEqual([3, true])
    expect((await owner.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(200)
    expect(await api.database.read.selectFrom('webhook_deliveries').select('id').execute()).toEqual([])
  })
})
