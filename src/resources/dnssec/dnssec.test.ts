/** Signs zones through the API, on both databases. A name server of the test serves the parent zone. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import packet from 'dns-packet'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { ZoneData } from '../../dns/zones/zone.ts'
import { readChangedZones } from '../../dns/zones/zones.store.ts'
import { noLog } from '../../platform/log/log.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { until } from '../../platform/operations/harness.ts'
import { createWorker, type Worker } from '../../platform/operations/worker/worker.ts'
import { zoneIn } from '../dns/dns.fixture.ts'
import { lookAtKeys, planKeys } from './look-at-keys.job.ts'

const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS

/** The DS records in the parent zone, as text. */
let above: string[]
let isAboveAway: boolean

async function startAbove(): Promise<Socket> {
  const socket = createSocket('udp4', (message, { port, address }) => {
    const query = packet.decode(message)
    const [question] = query.questions ?? []
    const answers = above.map((ds) => {
      const [keyTag, algorithm, digestType, digest = ''] = ds.split(' ')
      const data = { keyTag: Number(keyTag), algorithm: Number(algorithm), digestType: Number(digestType) }
      return {
        ...{ type: 'DS', name: question?.name ?? '', ttl: 60 },
        data: { ...data, digest: Buffer.from(digest, 'hex') },
      } as packet.Answer
    })
    const flags = isAboveAway ? 2 : 0
    const answer = { type: 'response', id: query.id ?? 0, flags, questions: query.questions ?? [] } as const
    socket.send(packet.encode({ ...answer, answers: isAboveAway ? [] : answers }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

describe.each(dialects)('DNSSEC on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let worker: Worker
  let now: number
  let resolver: Socket
  let zone: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.now()
    above = []
    isAboveAway = false
    resolver = await startAbove()
    const settings = { STEAD_RESOLVERS: `127.0.0.1:${resolver.address().port}` }
    api = await testApi(dialect, { now: () => now, settings })
    owner = await api.person('owner@example.com')
    const siteId = await api.site(owner, 'signed')
    zone = (await zoneIn(api, { accountId: owner.accountId, siteId, name: 'signed.test' })).zone
    worker = createWorker({
      database: api.database,
      definitions: [lookAtKeys, planKeys],
      runner: 'control',
      services: { database: api.database, config: api.config },
      log: noLog,
      clock: () => now,
    })
    worker.start()
  })
  afterEach(async () => {
    await worker?.stop(1000)
    await api?.close()
    resolver?.close()
  })

  const done = async () => {
    const open = api.database.read
      .selectFrom('operations')
      .select('id')
      .where('type', 'like', 'dnssec%')
      .where('finished_at', 'is', null)
    await until(async () => (await open.execute()).length === 0)
  }
  const pass = async (ms: number) => {
    now += ms
    await api.database.transaction((tx) =>
      tx
        .updateTable('tokens')
        .set({ expires_at: now + HOUR_MS })
        .execute(),
    )
  }
  const call = async (method: 'GET' | 'PUT' | 'POST', path = '', body?: object) => {
    const answer = await owner.call(method, `/v1/zones/${zone}/dnssec${path}`, body)
    await done()
    return answer
  }
  const shown = async () => (await call('GET')).body.data
  const states = async () => {
    const { status, keys } = await shown()
    return [status, ...keys.map(({ state }: { state: string }) => state)]
  }
  const look = () => call('PUT', '', { enabled: true })
  const plan = async () => {
    await api.database.transaction((tx) => enqueue(tx, planKeys, {}, { siteId: null }))
    await done()
  }
  /** The zone as name servers load it. */
  const served = async (): Promise<ZoneData | undefined> => {
    let found: ZoneData | undefined
    const take = ({ name, data }: { name: string; data: ZoneData | undefined }) => {
      if (name === 'signed.test') found = data
    }
    await readChangedZones(api.database, 0, take, api.sealer)
    return found
  }
  const entries = async () => {
    const found = api.database.read
      .selectFrom('activity')
      .select('message')
      .where('action', '=', 'dnssec')
      .orderBy('id')
    return (await found.execute()).map(({ message }) => message)
  }

  test('on: creates a key at once, and is secure when the registrar has its DS record', async () => {
    expect(await states()).toEqual(['off'])
    const { serial = 0 } = (await served()) ?? {}
    const { body, headers } = await call('PUT', '', { enabled: true })
    expect(headers['operation-id']).toBeDefined()
    expect(body.data).toMatchObject({ enabled: true, status: 'signed', keys: [{ state: 'active', has_ds: false }] })
    const { openKeys, serial: next } = (await served()) ?? {}
    expect(next).toBeGreaterThan(serial)
    expect(openKeys?.()).toMatchObject([{ state: 'active', tag: body.data.keys[0].tag }])
    above = [body.data.keys[0].ds]
    await look()
    expect(await shown()).toMatchObject({ status: 'secure', fault: null, keys: [{ has_ds: true }] })
    expect(await entries()).toEqual(['Switched DNSSEC of signed.test on'])
  })

  test('compares tag and algorithm of a DS record with an unknown digest type, and ignores DS records of other keys', async () => {
    const { body } = await call('PUT', '', { enabled: true })
    const [tag, algorithm, , digest] = body.data.keys[0].ds.split(' ')
    above = [`${tag} ${algorithm} 2 ${digest.replace(/../, (byte: string) => (byte === '00' ? '11' : '00'))}`]
    await look()
    expect((await shown()).status).toBe('signed')
    above = [`${tag} ${algorithm} 4 ${'AB'.repeat(48)}`]
    await look()
    expect((await shown()).status).toBe('secure')
  })

  test('off: keeps the zone signed until no resolver caches the DS record', async () => {
    const { body } = await call('PUT', '', { enabled: true })
    above = [body.data.keys[0].ds]
    await look()
    await call('PUT', '', { enabled: false })
    expect(await states()).toEqual(['leaving', 'active'])
    expect((await shown()).advice).toContain(`remove the DS record of key ${body.data.keys[0].tag}`)
    expect((await served())?.isLeaving).toBe(true)
    above = []
    await pass(2 * HOUR_MS)
    await plan()
    expect(await states()).toEqual(['leaving', 'active'])
    await pass(3 * DAY_MS)
    isAboveAway = true
    await plan()
    expect(await states()).toEqual(['leaving', 'active'])
    expect((await shown()).fault).toContain('answers code 2')
    isAboveAway = false
    await pass(2 * HOUR_MS)
    await plan()
    expect(await states()).toEqual(['off'])
    expect((await served())?.openKeys?.()).toEqual([])
    expect((await entries()).at(-1)).toBe('signed.test is no longer signed')
  })

  test('off before the registrar knew the key: at once; on again while a key is leaving: keeps the key', async () => {
    await call('PUT', '', { enabled: true })
    await call('PUT', '', { enabled: false })
    expect(await states()).toEqual(['off'])
    const { body } = await call('PUT', '', { enabled: true })
    above = [body.data.keys[0].ds]
    await look()
    await call('PUT', '', { enabled: false })
    await look()
    expect(await shown()).toMatchObject({ status: 'secure', keys: [{ tag: body.data.keys[0].tag }] })
  })

  test('signs with a new key when the parent names it, and deletes the old key when no resolver caches it', async () => {
    const first = (await call('PUT', '', { enabled: true })).body.data.keys[0]
    above = [first.ds]
    await look()
    const dueOf = async () => {
      const rows = await api.database.read.selectFrom('zones').select(['id', 'dnssec_due_at as due']).execute()
      return Object.fromEntries(rows.map(({ id, due }) => [id, due]))
    }
    const siteId = await api.site(owner, 'other')
    const other = (await zoneIn(api, { accountId: owner.accountId, siteId, name: 'other.test' })).zone
    const before = await dueOf()
    await pass(HOUR_MS)
    const rolled = await call('POST', '/keys')
    expect(rolled.status).toBe(201)
    expect(await dueOf()).toEqual({ [zone]: now + HOUR_MS, [other]: before[other] })
    const second = rolled.body.data.keys[1]
    expect(await states()).toEqual(['rolling', 'active', 'published'])
    above = [first.ds, second.ds]
    await look()
    // Resolvers may not know the new key yet.
    expect(await states()).toEqual(['rolling', 'active', 'published'])
    await pass(3 * HOUR_MS)
    await plan()
    expect(await states()).toEqual(['rolling', 'retired', 'active'])
    expect((await shown()).advice).toContain(`remove the DS record of key ${first.tag}`)
    await pass(4 * DAY_MS)
    await plan()
    expect(await states()).toEqual(['rolling', 'retired', 'active'])
    above = [second.ds]
    await pass(2 * HOUR_MS)
    await plan()
    expect(await states()).toEqual(['secure', 'active'])
    expect((await served())?.openKeys?.()).toMatchObject([{ tag: second.tag, state: 'active' }])
    expect(await entries()).toEqual([
      'Switched DNSSEC of signed.test on',
      'Requested a new key for signed.test',
      `signed.test: key ${second.tag} now signs`,
      `signed.test: key ${first.tag} was removed`,
    ])
  })

  test('refuses a second key change meanwhile, and one for a zone without a key', async () => {
    expect((await call('POST', '/keys')).body).toMatchObject({ code: 'dnssec_off' })
    await call('PUT', '', { enabled: true })
    expect((await call('POST', '/keys')).status).toBe(201)
    expect((await call('POST', '/keys')).body).toMatchObject({ code: 'key_roll_under_way' })
    expect(await states()).toEqual(['rolling', 'active', 'published'])
  })

  test('stores private keys sealed', async () => {
    await call('PUT', '', { enabled: true })
    const { private_key } = await api.database.read.selectFrom('zone_keys').selectAll().executeTakeFirstOrThrow()
    expect(private_key).toMatch(/^v1\./)
    expect(() => api.sealer.open(private_key, 'something else')).toThrow()
  })

  test('keeps a zone whose last record was deleted while its name is signed, then deletes it with its keys', async () => {
    const { body } = await call('PUT', '', { enabled: true })
    above = [body.data.keys[0].ds]
    await look()
    const records = (await owner.call('GET', `/v1/zones/${zone}/records`)).body.data.records
    for (const { id } of records) await owner.call('DELETE', `/v1/zones/${zone}/records/${id}`)
    expect(await states()).toEqual(['secure', 'active'])
    await call('PUT', '', { enabled: false })
    above = []
    await pass(4 * DAY_MS)
    await plan()
    expect((await call('GET')).status).toBe(404)
  })

  test('sends new signatures of signed zones to secondaries in time', async () => {
    const serial = async () => (await served())?.serial
    const before = await serial()
    await pass(5 * DAY_MS)
    await plan()
    expect(await serial()).toBe(before)
    await call('PUT', '', { enabled: true })
    const signed = await serial()
    await pass(3 * DAY_MS)
    await plan()
    expect(await serial()).toBe(signed)
    await pass(2 * DAY_MS)
    await plan()
    expect(await serial()).toBeGreaterThan(signed as number)
  })
})
