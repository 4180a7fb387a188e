import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { changeSite } from '../site.store.ts'
import { closeSite } from '../switches/closing.store.ts'
import { configureSite } from '../switches/configure-site.job.ts'

/** Fields of a site's detail that the API description does not name. */
const ours = ['status', 'deployError', 'safeMode']

describe.each(dialects)('what visitors get, on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let site: number
  let hostId: number
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'seen-site')
    await api.site(owner, 'other-site')
    hostId = (await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id
  })
  afterAll(() => api?.close())

  const status = async () => (await owner.call('GET', `/v1/sites/${site}/status`)).body.data
  const change = (changed: Parameters<typeof changeSite>[2]) =>
    api.database.transaction((tx) => changeSite(tx, site, changed, 1))
  const maintain = (maintenance: 0 | 1) =>
    api.database.transaction((tx) => tx.updateTable('sites').set({ maintenance }).where('id', '=', site).execute())
  /** Starts an operation that keeps the site closed until it ends. */
  const close = (type: string) =>
    api.database.transaction(async (tx) => {
      const id = await enqueue(
        tx,
        configureSite,
        { siteId: site },
        { siteId: site, hostId, accountId: owner.accountId },
      )
      await tx.updateTable('operations').set({ type }).where('id', '=', id).execute()
      await closeSite(tx, site, id, 1)
      return id
    })
  const end = (id: number) =>
    api.database.transaction((tx) =>
      tx.updateTable('operations').set({ finished_at: 2, state: 'succeeded' }).where('id', '=', id).execute(),
    )

  test('live, or else the reason that prevents it', async () => {
    const live = { status: 'live', reason: null, operationId: null, deployError: null, safeMode: false }
    expect(await status()).toEqual(live)
    await maintain(1)
    expect(await status()).toMatchObject({ status: 'maintenance', reason: expect.stringContaining('maintenance-mode') })
    await change({ state: 'disabled' })
    expect(await status()).toMatchObject({ status: 'disabled', reason: expect.stringContaining('/enable') })
    await change({ state: 'deploying' })
    expect(await status()).toMatchObject({ status: 'deploying', deployError: null })
    await change({ deployError: 'No room. Try again.' })
    expect(await status()).toMatchObject({
      status: 'failed',
      reason: 'No room. Try again.',
      deployError: 'No room. Try again.',
    })
    await change({ state: 'live', deployError: null })
    await maintain(0)
    expect(await status()).toEqual(live)
  })

  test.each([
    ['site.restore', 'restoring'],
    ['site.sync', 'syncing'],
    ['site.import', 'importing'],
    ['site.move', 'moving'],
    ['other.work', 'closed'],
  ])('while %s keeps it closed: %s, and the operation', async (type, expected) => {
    const operationId = await close(type)
    const shown = await status()
    expect(shown).toMatchObject({ status: expected, operationId, reason: expect.stringContaining(`${operationId}`) })
    await end(operationId)
    expect(await status()).toMatchObject({ status: 'live', operationId: null })
  })

  test('the site and lists of sites include it on request only', async () => {
    const operationId = await close('site.restore')
    const restoring = await status()
    const detail = async (query = '') => (await owner.call('GET', `/v1/sites/${site}${query}`)).body.data
    for (const field of ours) expect(await detail()).not.toHaveProperty(field)
    expect(await detail('?include=status')).toEqual({ ...(await detail()), status: restoring })
    const search = { filters: [{ key: 'name', value: 'site' }] }
    for (const [method, path, body] of [
      ['GET', '/v1/sites', undefined],
      ['GET', '/v1/sites?paginate=true', undefined],
      ['POST', '/v1/sites/search', search],
    ] as const) {
      const plain = (await owner.call(method, path, body)).body.data
      const asked = (await owner.call(method, `${path}${path.includes('?') ? '&' : '?'}include=status`, body)).body.data
      expect(plain.some((each: object) => 'status' in each)).toBe(false)
      expect(
        asked.map((each: { name: string; status: { status: string } }) => [each.name, each.status.status]),
      ).toEqual([
        ['other-site', 'live'],
        ['seen-site', 'restoring'],
      ])
    }
    const wrong = await owner.call('GET', '/v1/sites?include=weather')
    expect(wrong.status).toBe(400)
    await end(operationId)
  })
})
