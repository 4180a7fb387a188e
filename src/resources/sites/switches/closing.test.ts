import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { loadRoute, routeChangesSince } from '../../../edge/routing/routes.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { durable, uncounted } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import { putRoute } from '../addresses/route.store.ts'
import { closeSite, contentState, openSite } from './closing.store.ts'
import { configureSite } from './configure-site.job.ts'

describe.each(dialects.filter(({ skip }) => !skip))('a closed site, on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  let hostId: number
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'closed-site')
    await change((tx) => putRoute(tx, siteId, 'closed-site.test', 1))
    hostId = (await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id
  })
  afterAll(() => api.close())

  const change = <Result>(work: (tx: Tx) => Promise<Result>) => api.database.transaction(work)
  const newOperation = () =>
    change((tx) => enqueue(tx, configureSite, { siteId }, { siteId, hostId, accountId: owner.accountId }))
  const close = (operationId: number) => change((tx) => closeSite(tx, siteId, operationId, 1))
  const open = (operationId: number) => change((tx) => openSite(tx, siteId, operationId, 1))
  const isClosed = async (name = 'closed-site.test') => (await loadRoute(api.database.read, name))?.isClosed
  const changes = async () => (await routeChangesSince(api.database.read, undefined)).newest

  test('edges and hosts are told that it is closed, and that it is open again', async () => {
    const operation = await newOperation()
    const before = await changes()
    await close(operation)
    expect([await isClosed(), await changes()]).toEqual([true, before + 1])
    await close(operation)
    await open(operation)
    expect([await isClosed(), await changes()]).toEqual([false, before + 3])
    await open(operation)
    expect(await changes()).toBe(before + 3)
  })

  test('is closed for one operation, and another neither takes it over nor opens it', async () => {
    const [first, second] = [await newOperation(), await newOperation()]
    await close(first)
    await expect(close(second)).rejects.toThrow(`Operation ${first}`)
    await open(second)
    expect(await isClosed()).toBe(true)
    await open(first)
    await close(second)
    expect(await isClosed()).toBe(true)
    await open(second)
  })

  test('stays closed while its operation waits for a control that is away, also when the host starts again', async () => {
    // Operations of the other tests would go first.
    const ownSite = await api.site(owner, 'waiting-site')
    await change((tx) => putRoute(tx, ownSite, 'waiting-site.test', 1))
    let tries = 0
    const closing = (isAway: boolean) =>
      durable({
        name: 'site.need_a_control',
        input: Type.Object({}),
        on: 'host',
        changeableBy: 'account',
        attempts: 1,
        backoff: { firstMs: 1, mostMs: 1 },
        steps: {
          close: { commit: (tx, { operationId }) => closeSite(tx, ownSite, operationId, 1) },
          work: {
            run() {
              tries++
              if (isAway) throw Object.assign(new Error('no control answers'), { [uncounted]: true })
            },
          },
          open: { commit: (tx, { operationId }) => openSite(tx, ownSite, operationId, 1) },
        },
      })
    const work = (isAway: boolean) =>
      startWorker(api.database, [closing(isAway)], { ...{ runner: 'host', hostId, services: {} }, lookEveryMs: 5 })
    const isHostClosed = async () => (await contentState(api.database.read, ownSite))?.isClosed
    const id = await change((tx) => enqueue(tx, closing(true), {}, { siteId: ownSite, hostId }))
    for (const start of [1, 2]) {
      const host = work(true)
      await until(() => tries > 2 * start)
      await host.stop(5000)
      // As the next start of the host, and the edges, read it.
      expect([await isHostClosed(), await isClosed('waiting-site.test')]).toEqual([true, true])
    }
    const host = work(false)
    expect((await ended(api.database, id)).state).toBe('succeeded')
    await host.stop(5000)
    expect([await isHostClosed(), await isClosed('waiting-site.test')]).toEqual([false, false])
  })

  test('is open when the operation has ended without opening it, whatever its result, or no longer exists', async () => {
    const operation = await newOperation()
    await close(operation)
    expect(await change((tx) => requestCancel(tx, operation, 1))).toBe('canceled')
    expect(await isClosed()).toBe(false)
    // The next operation may close it.
    const next = await newOperation()
    await close(next)
    expect(await isClosed()).toBe(true)
    await change((tx) => tx.deleteFrom('operation_steps').where('operation_id', '=', next).execute())
    await change((tx) => tx.deleteFrom('operations').where('id', '=', next).execute())
    expect(await isClosed()).toBe(false)
  })
})
