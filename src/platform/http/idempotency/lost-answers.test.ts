/** Loses connections to PostgreSQL around COMMIT. Whatever becomes of the transaction, a keyed request is done once. */
import { sql } from 'kysely'
import Type from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CuttingProxy, openCuttingProxy } from '../../../../test/support/cutting-proxy.ts'
import { dialects } from '../../../../test/support/database.ts'
import { CommitUnknown } from '../../db/commit-unknown.ts'
import { type Database, openDatabase } from '../../db/database.ts'
import type { BaseContext, Endpoint } from '../endpoint.ts'
import { createLab, json, type Lab } from '../test-support.ts'

let effect = 0
const work: Endpoint = {
  id: 'work',
  method: 'POST',
  path: '/v1/work',
  tag: 'Lab',
  summary: 'Test',
  access: 'any',
  response: Type.Unsafe<unknown>({}),
  async handle({ tx, request }: BaseContext) {
    const name = `effect of ${request.headers['x-work']} ${++effect}`
    await tx.insertInto('schedules').values({ name, last_slot: 0 }).execute()
    return name
  },
}

const isWork = (statements: readonly string[]) => statements.some((each) => each.includes('"schedules"'))
const isClaim = (statements: readonly string[]) =>
  statements.some((each) => /insert into "idempotency_keys"/.test(each))

describe.skipIf(dialects[1]?.skip)('lost answers of PostgreSQL', () => {
  let lab: Lab
  let proxy: CuttingProxy
  let behind: Database
  let number = 0
  beforeEach(async () => {
    lab = await createLab([work], {
      dialect: 'postgres',
      async database(url) {
        proxy = await openCuttingProxy(url)
        behind = await openDatabase({ url: proxy.url, file: '' })
        return behind
      },
    })
    number++
  })
  afterEach(async () => {
    proxy.isDown = false
    await lab.close()
    await behind.close()
    await proxy.close()
  })

  const ask = (key?: string) =>
    lab.inject('POST', '/v1/work', json({}, { 'x-work': `${number}`, ...(key && { 'idempotency-key': key }) }))
  const effects = async () =>
    (await lab.database.read.selectFrom('schedules').select('name').execute()).map(({ name }) => name)
  const keys = () => lab.database.read.selectFrom('idempotency_keys').selectAll().execute()
  /** Cuts the first COMMIT of a certain kind. */
  const cutOnce = (cut: 'answer' | 'request' | 'hold', isMeant: (statements: readonly string[]) => boolean) => {
    let isDone = false
    proxy.decide = (statements) => {
      if (isDone || !isMeant(statements)) return 'pass'
      isDone = true
      return cut
    }
  }

  it('200 and one effect when the answer to the COMMIT of the change is lost; replays return the same', async () => {
    cutOnce('answer', isWork)
    const [first, second] = [await ask('k'), await ask('k')]
    expect([first.statusCode, second.statusCode, proxy.cuts]).toEqual([200, 200, 1])
    expect([second.headers['idempotency-replayed'], second.body]).toEqual(['true', first.body])
    expect(await effects()).toEqual([first.json().data])
  })

  it('503 and a free key when the COMMIT itself is lost; the next try succeeds', async () => {
    cutOnce('request', isWork)
    const [first, second] = [await ask('k'), await ask('k')]
    expect([first.statusCode, first.headers['retry-after'], second.statusCode]).toEqual([503, '5', 200])
    expect(second.headers['idempotency-replayed']).toBeUndefined()
    expect(await effects()).toEqual([second.json().data])
  })

  it('waits for a COMMIT that is still on its way, and does not repeat the change', async () => {
    cutOnce('hold', isWork)
    const first = ask('k')
    // `completeClaim` waits for the row that the first attempt has locked.
    await expect.poll(() => waitingForLocks(lab.database)).toBe(1)
    await proxy.release()
    const response = await first
    expect([response.statusCode, await effects()]).toEqual([200, [response.json().data]])
  })

  it('503 with an unknown outcome while the database is unreachable; later the key tells the outcome', async () => {
    proxy.decide = (statements) => {
      if (!isWork(statements)) return 'pass'
      setImmediate(() => {
        proxy.isDown = true
      })
      return 'answer'
    }
    const first = await ask('k')
    expect([first.statusCode, first.headers['retry-after'], first.json().errors[0]]).toEqual([
      503,
      undefined,
      expect.stringContaining('the change may or may not be saved'),
    ])
    proxy.isDown = false
    const second = await ask('k')
    expect([second.statusCode, second.headers['idempotency-replayed']]).toEqual([200, 'true'])
    expect(await effects()).toEqual([second.json().data])
  })

  it('503 and a free key when the answer to the claim is lost', async () => {
    cutOnce('answer', isClaim)
    const [first, second] = [await ask('k'), await ask('k')]
    expect([first.statusCode, second.statusCode, await effects()]).toEqual([503, 200, [second.json().data]])
  })

  it('rejects the late COMMIT of an attempt that was overtaken', async () => {
    cutOnce('hold', isWork)
    const first = ask('k')
    await expect.poll(() => waitingForLocks(lab.database)).toBe(1)
    // Its lock has expired, and other requests with the key wait for the same row.
    lab.clock += 61_000
    const others = [ask('k'), ask('k')]
    await expect.poll(() => waitingForLocks(lab.database)).toBe(3)
    await proxy.release()
    const responses = await Promise.all([first, ...others])
    const made = await effects()
    expect(made).toHaveLength(1)
    for (const each of responses) {
      expect([200, 409]).toContain(each.statusCode)
      if (each.statusCode === 200) expect(each.json().data).toBe(made[0])
    }
  })

  it('503 without a key: says that the change may be saved, and does not retry', async () => {
    cutOnce('answer', isWork)
    const response = await ask()
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, undefined])
    expect(response.json().errors).toEqual([expect.stringContaining('the change may or may not be saved')])
    expect(await effects()).toHaveLength(1)
  })

  it('does not rerun a transaction whose COMMIT was lost, whatever the error says', async () => {
    for (const cut of ['answer', 'request'] as const) {
      let runs = 0
      cutOnce(cut, isWork)
      const done = behind.transaction(async (tx) => {
        runs++
        await tx
          .insertInto('schedules')
          .values({ name: `run ${cut}`, last_slot: 0 })
          .execute()
      })
      await expect(done).rejects.toBeInstanceOf(CommitUnknown)
      expect(runs).toBe(1)
    }
    expect(await effects()).toEqual(['run answer'])
  })

  it('does each of many keyed requests once, in pairs with randomly cut COMMITs, and their answers agree', async () => {
    let seed = 7
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    proxy.decide = () => (random() < 0.25 ? (random() < 0.5 ? 'answer' : 'request') : 'pass')
    const until = async (key: string): Promise<string> => {
      for (;;) {
        const response = await ask(key)
        if (response.statusCode === 200) return response.json().data as string
        expect([409, 503]).toContain(response.statusCode)
        // If the completion of a claim was cut as well, the claim is free when its lock expires.
        lab.clock += 5000
      }
    }
    const names = Array.from({ length: 40 }, (_, index) => `k${index}`)
    const answers = await Promise.all(names.map(async (name) => Promise.all([until(name), until(name)])))
    proxy.decide = () => 'pass'
    expect(proxy.cuts).toBeGreaterThan(20)
    const made = await effects()
    expect(made).toHaveLength(names.length)
    for (const [one, other] of answers) {
      expect(one).toBe(other)
      expect(made).toContain(one)
    }
    expect((await keys()).every(({ response_sealed }) => response_sealed !== null)).toBe(true)
  })
})

async function waitingForLocks(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.read)
  return rows[0]?.count ?? 0
}
