import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { configureSite } from '../switches/configure-site.job.ts'

describe.each(dialects)('clone on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'source')
  })
  afterEach(() => api?.close())

  const clone = (body: object, by = owner) => by.call('POST', `/v1/sites/${siteId}/clone`, body)
  const change = (values: object) =>
    api.database.transaction((tx) => tx.updateTable('sites').set(values).where('id', '=', siteId).execute())

  test('200 and a site in state cloning, with the settings and tags of its source, and without its collaborators', async () => {
    const friend = await api.person('friend@example.com')
    await api.collaborate(friend, siteId, ['manage_notes'])
    await owner.call('POST', `/v1/sites/${siteId}/tags`, { tag_names: ['shop', 'big'] })
    const values = { php_version: '8.1', install: 'woocommerce', multisite: 1, light_404: 1, display_name: 'My shop' }
    await change({ ...values, core_channel: 'beta', environment_type: 'local', admin_username: 'boss' })
    const source = (await owner.call('GET', `/v1/sites/${siteId}`)).body.data
    const { status, headers, body } = await clone({ name: 'The-Copy' })
    expect(status).toBe(200)
    expect(headers['operation-id']).toBeDefined()
    expect(body.data).toMatchObject({
      ...{ name: 'the-copy', displayName: 'the-copy', state: 'cloning', clonedFromId: siteId, staging: false },
      ...{ phpVersion: '8.1', ecommerce: true, multisiteSupport: true, lightWeight404: true, tags: source.tags },
      ...{ datacenterCode: source.datacenterCode, wpEnvironmentType: 'local', cmsVersion: 'Latest Release (Beta)' },
      ...{ collaboratorsCount: 0, domainsCount: 0, url: 'the-copy.localhost:8081', accountId: owner.accountId },
    })
    expect((await owner.call('GET', `/v1/sites/${body.data.id}`)).body.data).toMatchObject({
      ...{ tags: source.tags, state: 'cloning', collaborators: [] },
    })
    expect((await friend.call('GET', `/v1/sites/${body.data.id}`)).status).toBe(404)
    const { admin_username } = await api.database.read
      .selectFrom('sites')
      .select('admin_username')
      .where('id', '=', body.data.id)
      .executeTakeFirstOrThrow()
    expect(admin_username).toBe('boss')
    expect((await owner.call('GET', `/v1/sites/${siteId}`)).body.data).toEqual(source)
  })

  test('changes the environment type with the kind of site, unless it was set to something else', async () => {
    const typeOf = async (name: string, staging: boolean) =>
      (await clone({ name, staging })).body.data.wpEnvironmentType
    expect(await typeOf('copy-1', true)).toBe('staging')
    expect(await typeOf('copy-2', false)).toBe('production')
    await change({ environment_type: 'development' })
    expect(await typeOf('copy-3', true)).toBe('development')
    await change({ environment_type: 'staging', staging: 1 })
    expect(await typeOf('copy-4', true)).toBe('staging')
    expect(await typeOf('copy-5', false)).toBe('production')
  })

  test('belongs to the owner of the source and counts against that plan when a collaborator requests it', async () => {
    const friend = await api.person('friend@example.com')
    await api.collaborate(friend, siteId, ['clone_site'])
    await api.database.transaction((tx) => tx.updateTable('accounts').set({ plan: 'Personal' }).execute())
    expect((await clone({ name: 'copy-1' }, friend)).body.data).toMatchObject({ accountId: owner.accountId })
    expect((await clone({ name: 'copy-2' }, friend)).status).toBe(200)
    expect((await clone({ name: 'copy-3' }, friend)).status).toBe(400)
    expect((await owner.call('GET', '/v1/account')).body.data.capacity.sites).toMatchObject({ billable: 3 })
    expect((await friend.call('GET', '/v1/account')).body.data.capacity.sites).toMatchObject({ billable: 0 })
  })

  test('runs after what was requested for the source before, and does not wait for later requests', async () => {
    const [first, second] = await api.database.transaction(async (tx) => {
      const site = { siteId, hostId: 1 }
      const asked = [
        await enqueue(tx, configureSite, { siteId }, site),
        await enqueue(tx, configureSite, { siteId }, site),
      ]
      await enqueue(tx, configureSite, { siteId }, { ...site, afterMs: 3_600_000 })
      return asked
    })
    const { headers } = await clone({ name: 'copy-1' })
    const waits = await api.database.read.selectFrom('operation_waits').selectAll().orderBy('for_id').execute()
    expect(waits).toEqual([first, second].map((id) => ({ operation_id: Number(headers['operation-id']), for_id: id })))
  })

  test('503 if its host is full, and no storage passes its content to another', async () => {
    const other = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}' }
    await api.database.transaction(async (tx) => {
      await tx
        .insertInto('hosts')
        .values({ ...other, seen_at: Date.now() })
        .execute()
      await tx.updateTable('hosts').set({ max_sites: 0 }).where('name', '!=', 'far').execute()
    })
    expect((await clone({ name: 'copy-1' })).status).toBe(503)
  })
})
