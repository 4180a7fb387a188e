import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dialects } from '../../../../test/support/database.ts'
import { type BaseContext, type Endpoint, reply } from '../endpoint.ts'
import { declareProblems, Problem } from '../problem.ts'
import { createLab, json, type Lab } from '../test-support.ts'
import { forgetOldKeys } from './idempotency.ts'

const HOUR_MS = 3600_000
const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }

const refusals = declareProblems({
  name_taken: { status: 400, text: 'name: "{name}" is already taken.', remedy: '' },
  site_unavailable: { status: 503, text: 'The site does not answer right now: {reason}.', remedy: '' },
})

/** Holds a request inside its handler until the test opens the gate. */
function gate() {
  const [entered, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    entered: entered.promise,
    open: opened.resolve,
    async pass() {
      entered.resolve()
      await opened.promise
    },
  }
}

describe.each(dialects)('Idempotency-Key on $dialect', ({ dialect, skip }) => {
  if (skip) return void it.skip('no server', () => {})
  let lab: Lab
  let effects = 0
  let number = 0
  let behaviour: (context: BaseContext) => Promise<unknown> = async () => null
  let afterCommit: (context: { started: number[] }) => Promise<void> = async () => {}
  const endpoints: Endpoint[] = [
    {
      ...common,
      id: 'work',
      method: 'POST',
      path: '/v1/work/{id}',
      params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
      query: Type.Object({ dry: Type.Optional(Type.Boolean()) }),
      body: Type.Object({ secret: Type.Optional(Type.String()), list: Type.Optional(Type.Array(Type.Integer())) }),
      status: 201,
      handle: (context) => behaviour(context),
      afterCommit: (context) => afterCommit(context),
    },
    { ...common, id: 'look', method: 'POST', path: '/v1/look', reads: true, handle: async () => ++effects },
    { ...common, id: 'read', method: 'GET', path: '/v1/read', handle: async () => ++effects },
  ]

  beforeAll(async () => {
    lab = await createLab(endpoints, { dialect })
  })
  afterAll(() => lab.close())
  beforeEach(() => {
    effects = 0
    number++
    afterCommit = async () => {}
    // The effect is in the database, so a rollback undoes it.
    behaviour = async ({ tx, started }) => {
      await tx
        .insertInto('schedules')
        .values({ name: `effect ${number} ${++effects}`, last_slot: 0 })
        .execute()
      started.push(41)
      return reply({ effects }, { message: 'Worked', headers: { 'x-extra': 'kept' } })
    }
  })

  const key = () => `key-${number}`
  const work = (body: unknown = {}, headers: Record<string, string> = {}, path = '/v1/work/1') =>
    lab.inject('POST', path, json(body, { 'idempotency-key': key(), ...headers }))
  const kept = async () => {
    const rows = await lab.database.read.selectFrom('schedules').select('name').execute()
    return rows.filter(({ name }) => name.startsWith(`effect ${number} `)).length
  }
  const row = () =>
    lab.database.read.selectFrom('idempotency_keys').selectAll().where('key', '=', key()).executeTakeFirst()

  it('201: replays the first response and marks it; the effect exists once', async () => {
    const [first, second] = [await work(), await work()]
    expect([first.statusCode, first.headers['idempotency-replayed'], first.headers['operation-id']]).toEqual([
      201,
      undefined,
      '41',
    ])
    expect([second.statusCode, second.headers['idempotency-replayed'], second.headers['operation-id']]).toEqual([
      201,
      'true',
      '41',
    ])
    expect([second.body, second.headers['x-extra'], await kept()]).toEqual([first.body, 'kept', 1])
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
  })

  it('replays it in another process too', async () => {
    const first = await work()
    const other = await lab.second()
    const request = {
      ...json({}, { 'idempotency-key': key(), authorization: 'Bearer 1' }),
      method: 'POST',
      url: '/v1/work/1',
    } as const
    const second = await other.inject(request)
    await other.close()
    expect([second.statusCode, second.body, await kept()]).toEqual([201, first.body, 1])
  })

  it('treats two spellings of one request as one request', async () => {
    await work({ list: [1, 2] })
    const again = await work({ list: ['1', '2'], unknown: true }, {}, '/v1//work/1/?other=1')
    expect([again.statusCode, again.headers['idempotency-replayed'], await kept()]).toEqual([201, 'true', 1])
  })

  it.each<[string, unknown, string]>([
    ['body', { list: [2] }, '/v1/work/1'],
    ['path', { list: [1] }, '/v1/work/2'],
    ['query', { list: [1] }, '/v1/work/1?dry=true'],
  ])('422 for a key that was used with another %s', async (_what, body, path) => {
    await work({ list: [1] })
    const other = await work(body, {}, path)
    expect([other.statusCode, other.json().errors]).toEqual([
      422,
      ['This Idempotency-Key was already used with another request. Use a new key for each new request.'],
    ])
    expect(await kept()).toBe(1)
  })

  it("201: treats another application's key as a different key", async () => {
    await work()
    const other = await work({}, { authorization: 'Bearer 2' })
    expect([other.statusCode, other.headers['idempotency-replayed'], await kept()]).toEqual([201, undefined, 2])
  })

  it('409 while the first request runs; the effect exists once', async () => {
    const hold = gate()
    const usual = behaviour
    behaviour = async (context) => {
      await hold.pass()
      return usual(context)
    }
    const first = work()
    // SQLite has one writer, so the request in flight is visible only through its claim, which was committed before.
    await hold.entered
    const claimed = await row()
    expect([claimed?.response_sealed, claimed?.status]).toEqual([null, null])
    if (dialect === 'postgres') {
      const second = await work()
      expect([second.statusCode, second.headers['retry-after']]).toEqual([409, '1'])
    }
    hold.open()
    expect((await first).statusCode).toBe(201)
    expect(await kept()).toBe(1)
  })

  it('409 or the same response for many at once; the effect exists once', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => work()))
    expect(await kept()).toBe(1)
    expect(
      all.filter(({ statusCode, headers }) => statusCode === 201 && !headers['idempotency-replayed']),
    ).toHaveLength(1)
    for (const each of all) expect([201, 409]).toContain(each.statusCode)
    expect((await work()).headers['idempotency-replayed']).toBe('true')
  })

  it('replays a refusal, even if the request would now be granted', async () => {
    behaviour = async ({ tx }) => {
      await tx
        .insertInto('schedules')
        .values({ name: `effect ${number} 1`, last_slot: 0 })
        .execute()
      throw new Problem(refusals.name_taken, { name: 'x' })
    }
    const first = await work()
    behaviour = async () => 'granted'
    const second = await work()
    expect([first.statusCode, second.statusCode, second.headers['idempotency-replayed']]).toEqual([400, 400, 'true'])
    expect([second.body, await kept()]).toEqual([first.body, 0])
  })

  it('500 stores nothing: the next try counts as the first', async () => {
    const usual = behaviour
    behaviour = async () => {
      throw new Error('broken')
    }
    expect((await work()).statusCode).toBe(500)
    expect(await row()).toBeUndefined()
    behaviour = usual
    const second = await work()
    expect([second.statusCode, second.headers['idempotency-replayed'], await kept()]).toEqual([201, undefined, 1])
  })

  it('a crash between claim and commit: 409 for a minute, then the key is free', async () => {
    // A killed process leaves only its claim behind.
    const values = { application_id: 1, key: key(), response_sealed: null, status: null }
    const times = { locked_until: lab.clock + 60_000, created_at: lab.clock }
    await work({}, { 'idempotency-key': `${key()}-template` })
    const { fingerprint } = await lab.database.read
      .selectFrom('idempotency_keys')
      .select('fingerprint')
      .where('key', '=', `${key()}-template`)
      .executeTakeFirstOrThrow()
    await lab.database.transaction((tx) =>
      tx
        .insertInto('idempotency_keys')
        .values({ ...values, ...times, fingerprint })
        .execute(),
    )
    const before = await kept()
    lab.clock += 59_000
    expect((await work()).statusCode).toBe(409)
    lab.clock += 2_000
    const [retry, replay] = [await work(), await work()]
    expect([retry.statusCode, retry.headers['idempotency-replayed'], replay.headers['idempotency-replayed']]).toEqual([
      201,
      undefined,
      'true',
    ])
    expect(await kept()).toBe(before + 1)
  })

  it('429 beyond the limit of keys; existing keys still replay', async () => {
    const small = await createLab(endpoints, { dialect, keyLimits: { keys: 2, bytes: 1e6 } })
    const ask = (name: string) => small.inject('POST', '/v1/work/1', json({}, { 'idempotency-key': name }))
    const statuses = [await ask('one'), await ask('two'), await ask('three'), await ask('one')].map(
      ({ statusCode, headers }) => [statusCode, headers['idempotency-replayed'], headers['retry-after']],
    )
    expect(statuses).toEqual([
      [201, undefined, undefined],
      [201, undefined, undefined],
      [429, undefined, '600'],
      [201, 'true', undefined],
    ])
    await small.close()
  })

  it('keeps the key after a failure past the commit: a replay waits for the same work and repeats nothing', async () => {
    afterCommit = async () => {
      throw new Problem(refusals.site_unavailable, { reason: 'it took too long' })
    }
    expect((await work()).statusCode).toBe(503)
    afterCommit = async () => {}
    const again = await work()
    expect([again.statusCode, again.headers['idempotency-replayed'], await kept()]).toEqual([201, 'true', 1])
  })

  it('ignores a lock that a wrong clock set far ahead', async () => {
    await work()
    await lab.database.transaction((tx) =>
      tx
        .updateTable('idempotency_keys')
        .set({ response_sealed: null, status: null, locked_until: lab.clock + 3 * HOUR_MS, created_at: lab.clock + 1 })
        .where('key', '=', key())
        .execute(),
    )
    const again = await work()
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, undefined])
  })

  it('a request that outlives its lock and is overtaken changes nothing, and leaves the key to the other', async () => {
    const hold = gate()
    const usual = behaviour
    behaviour = async (context) => {
      behaviour = usual
      const result = await usual(context)
      await hold.pass()
      return result
    }
    if (dialect === 'sqlite') return
    const slow = work()
    await hold.entered
    lab.clock += 61_000
    const fast = await work()
    hold.open()
    expect([fast.statusCode, (await slow).statusCode]).toEqual([201, 409])
    expect(await kept()).toBe(1)
    expect((await work()).headers['idempotency-replayed']).toBe('true')
  })

  it('waits in a replay for the same work as the first answer', async () => {
    const waited: number[][] = []
    const hold = gate()
    afterCommit = async ({ started }) => {
      waited.push(started)
      await hold.pass()
    }
    const first = work()
    await hold.entered
    const second = work()
    hold.open()
    expect([(await first).statusCode, (await second).statusCode]).toEqual([201, 201])
    expect(waited).toEqual([[41], [41]])
  })

  it('forgets a key after a day', async () => {
    await work()
    lab.clock += 24 * HOUR_MS + 1
    const again = await work({ list: [3] })
    expect([again.statusCode, again.headers['idempotency-replayed'], await kept()]).toEqual([201, undefined, 2])
    lab.clock += 24 * HOUR_MS + 1
    let gone = 0
    while ((await lab.database.transaction((tx) => forgetOldKeys(tx, lab.clock, 3))) > 0) gone++
    expect([gone > 0, await row()]).toEqual([true, undefined])
  })

  it('seals stored data: the database shows neither request nor response', async () => {
    behaviour = async () => ({ password: 'correct-horse' })
    await work({ secret: 'battery-staple' })
    const stored = JSON.stringify(await row())
    expect(stored).not.toMatch(/correct-horse|battery-staple/)
    expect((await work({ secret: 'battery-staple' })).json().data).toEqual({ password: 'correct-horse' })
  })

  it.each(['a b', 'ä', 'x'.repeat(256)])('400 for the key %j', async (bad) => {
    const response = await work({}, { 'idempotency-key': bad })
    expect([response.statusCode, response.json().errors]).toEqual([
      400,
      ['Idempotency-Key: must be 1 to 255 printable ASCII characters.'],
    ])
  })

  it('applies to a POST that only reads: returns the first answer and reads nothing', async () => {
    const look = () => lab.inject('POST', '/v1/look', json({}, { 'idempotency-key': key() }))
    const [first, second] = [await look(), await look()]
    expect([first.json().data, second.json().data, effects]).toEqual([1, 1, 1])
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect((await lab.inject('POST', '/v1/look', json({}))).json().data).toBe(2)
  })

  it('has no effect on a GET', async () => {
    const read = () => lab.inject('GET', '/v1/read', json({}, { 'idempotency-key': key() }))
    expect([(await read()).json().data, (await read()).json().data]).toEqual([1, 2])
    expect(await row()).toBeUndefined()
  })

  it('400 and no stack overflow for an extremely nested body', async () => {
    const response = await work(`{"list": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    expect([response.statusCode, await row()]).toEqual([400, undefined])
  })
})
