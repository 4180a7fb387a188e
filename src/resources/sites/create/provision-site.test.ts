import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { whileUnderWay } from '../../../../test/support/overlap.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import type { MadePage } from '../../../hosting/web-server/first-pages.ts'
import { siteHooks } from '../../../jobs.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { OperationView } from '../../../platform/operations/read.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { changeSite, markDeleted } from '../site.store.ts'
import { provisionSite } from './provision-site.job.ts'

const directory = { id: 7, path: '/none', uid: null, coreVersion: '6.8.7' }

describe.each(dialects)('a site that cannot be installed, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  /** Calls to the host, in order. */
  let calls: string[]
  /** First pages. */
  let kept: unknown[]
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'broken-site')
    const route = { host_name: 'broken-site.test', site_id: siteId, changed_at: 1 }
    await api.database.transaction((tx) => tx.insertInto('routes').values(route).execute())
    calls = []
    kept = []
  })
  afterEach(() => api?.close())

  /** Returns a host without PHP. `check` replaces the first request to the site. */
  const host = (check: () => Promise<unknown>) =>
    ({
      config: api.config,
      database: api.database,
      refill() {},
      siteHooks: [],
      siteDirectories: {
        ofSite: async () => directory,
        phpSite: ({ path, uid }: typeof directory, site: object) => ({
          ...site,
          siteDirectory: path,
          corePath: '/none',
          uid,
        }),
        remove: async ({ id }: typeof directory) => void calls.push(`remove home ${id}`),
      },
      spares: { take: async (id: number) => void calls.push(`take spare of home ${id}`) },
      firstPages: {
        keep: async (id: number, make: () => Promise<{ page: MadePage | null }>) => {
          const made = await make()
          kept.push([id === siteId, made.page?.headers, made.page?.body.toString()])
          return made
        },
      },
      pool: {
        stop: async (id: number) => void calls.push(id === siteId ? 'stop PHP' : 'stop PHP of another'),
        runTask: async (_site: unknown, task: string) => {
          calls.push(task)
          return check()
        },
      },
    }) as unknown as HostServices

  /** Runs the operation from the step that moves PHP in, because the earlier ones need a real site directory. */
  async function provision(check: () => Promise<unknown>): Promise<OperationView> {
    const { id: hostId } = await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()
    const id = await api.database.transaction(async (tx) => {
      const id = await enqueue(tx, provisionSite, { siteId }, { siteId, accountId: owner.accountId, hostId })
      const results = { home: { homeId: 7, coreVersion: '6.8.7' }, content: { address: 'a.test', title: 'A' } }
      for (const [name, result] of Object.entries(results))
        await tx
          .updateTable('operation_steps')
          .set({ state: 'succeeded', started_at: 1, finished_at: 1, result: JSON.stringify(result) })
          .where('operation_id', '=', id)
          .where('name', '=', name)
          .execute()
      return id
    })
    const worker = startWorker(api.database, [provisionSite], { runner: 'host', hostId, services: host(check) })
    try {
      return await ended(api.database, id)
    } finally {
      await worker.stop(1000)
    }
  }

  const deployError = async () => (await owner.call('GET', `/v1/sites/${siteId}/status`)).body.data.deployError

  const failures = async () =>
    (
      await api.database.read
        .selectFrom('activity')
        .select('message')
        .where('action', '=', 'site.deploy_failed')
        .execute()
    ).map(({ message }) => message)

  test('stops its PHP, removes its spare and site directory, and logs the reason', async () => {
    const operation = await provision(async () => {
      throw new PermanentFailure('no page')
    })
    expect([operation.state, operation.steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
      'failed',
      ['home undone', 'content succeeded', 'process succeeded', 'shop succeeded', 'answer failed', 'live skipped'],
    ])
    expect(calls).toEqual([
      // Moving in, and the first request.
      'take spare of home 7',
      'check-site',
      // Rolling back the site directory.
      'stop PHP',
      'take spare of home 7',
      'remove home 7',
    ])
    expect(await failures()).toEqual(['The site could not be installed: no page'])
    expect(await deployError()).toBe(
      `The site could not be installed: no page. To try again, send POST /v1/operations/${operation.id}/retry. Or delete the site to free its place in the plan.`,
    )
    expect((await loadRoute(api.database.read, 'broken-site.test'))?.deployFailed).toBe(true)
  })

  test('keeps the page that proved that the site works for its first visitor', async () => {
    const page = { headers: ['Link', '</>'], body: Buffer.from('<title>A').toString('base64') }
    await provision(async () => ({ title: 'A', page }))
    expect(kept).toEqual([[true, ['Link', '</>'], '<title>A']])
  })

  test('forgets the failure on a retry, and does not mention it when it is live', async () => {
    const error = 'no page'
    await api.database.transaction((tx) => changeSite(tx, siteId, { deployError: error }, 1))
    const claim = provisionSite.steps.home?.run as (context: object) => Promise<void>
    const transaction = api.database.transaction.bind(api.database)
    const template = async () => {
      throw new PermanentFailure('not this far')
    }
    const services = { database: api.database, template }
    await expect(claim({ input: { siteId }, services, transaction, now: Date.now })).rejects.toThrow('not this far')
    expect(await deployError()).toBe(null)
    expect((await loadRoute(api.database.read, 'broken-site.test'))?.deployFailed).toBe(false)
  })

  test('a failed one counts against the plan until it is deleted', async () => {
    await provision(async () => {
      throw new PermanentFailure('no page')
    })
    const used = async () => (await owner.call('GET', '/v1/account')).body.data.capacity.sites.total
    expect(await used()).toBe(1)
    expect((await owner.call('DELETE', `/v1/sites/${siteId}`)).status).toBe(200)
    expect(await used()).toBe(0)
  })

  test('one that is canceled meanwhile is rolled back too, and is no failure', async () => {
    const operation = await provision(async () => {
      expect((await owner.call('POST', `/v1/operations/${await openOperation()}/cancel`)).status).toBe(200)
      return { title: 'A' }
    })
    expect(operation.state).toBe('canceled')
    expect(calls.slice(-2)).toEqual(['take spare of home 7', 'remove home 7'])
    expect(await failures()).toEqual([])
    expect(await deployError()).toContain('The installation of the site was canceled. To try again, send POST')
  })

  const goLive = () =>
    api.database.transaction((tx) => {
      const live = provisionSite.steps.live?.commit as (tx: Tx, context: object) => Promise<void>
      const results = { home: { coreVersion: '6.8.7' }, content: { address: 'a.test' } }
      return live(tx, { input: { siteId }, results, services: { siteHooks }, now: Date.now })
    })

  test('one that goes live gets the users of the collaborators that it has by then', async () => {
    await api.collaborate(await api.person('mate@example.com'), siteId, ['wp_access'])
    await api.collaborate(await api.person('reader@example.com'), siteId, [])
    await goLive()
    const started = api.database.read.selectFrom('operations').select('type').where('site_id', '=', siteId)
    expect(await started.execute()).toEqual([{ type: 'collaborator.sync_wp_user' }])
  })

  test('one that is deleted at the moment when it would go live does not', async () => {
    const outcomes = await whileUnderWay(api.database, (tx) => markDeleted(tx, siteId, 1), [
      () => goLive().catch(String),
    ])
    expect(outcomes).toEqual(['PermanentFailure: The site was deleted'])
    expect(await api.database.read.selectFrom('events').select('type').execute()).toEqual([])
  })

  const openOperation = async () => {
    const open = api.database.read.selectFrom('operations').select('id').where('finished_at', 'is', null)
    return (await open.executeTakeFirstOrThrow()).id
  }
})
