import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { roles } from '../../access/roles.ts'
import { insertBackup } from '../backup.store.ts'

describe.each(dialects)('requesting a sync on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let from: number
  let to: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    from = await api.site(owner, 'source')
    to = await api.site(owner, 'destination')
  })
  afterEach(() => api?.close())

  const sync = (body: object, by = owner) =>
    by.call('POST', '/v1/sites/sync', { from_site_id: from, to_site_id: to, ...body })
  const operations = () => api.database.read.selectFrom('operations').selectAll().orderBy('id').execute()
  const backups = () =>
    api.database.read.selectFrom('backups').select(['site_id', 'kind', 'origin']).orderBy('id').execute()
  const change = (id: number, values: object) =>
    api.database.transaction((tx) => tx.updateTable('sites').set(values).where('id', '=', id).execute())

  test('200: backs up both sites for each type, and syncs after all of these', async () => {
    const { status, headers } = await sync({ database: true, themes_directory: true, wp_environment_type: 'local' })
    expect(status).toBe(200)
    const ordered = await operations()
    expect(ordered.map(({ type, site_id }) => `${type} ${site_id === from ? 'source' : 'destination'}`)).toEqual([
      'backup.take source',
      'backup.take source',
      'backup.take destination',
      'backup.take destination',
      'site.sync destination',
    ])
    const sync1 = ordered.at(-1)
    expect(headers['operation-id']).toBe(String(sync1?.id))
    const waits = await api.database.read.selectFrom('operation_waits').select(['operation_id', 'for_id']).execute()
    expect(waits.map(({ for_id }) => for_id).toSorted((a, b) => a - b)).toEqual(ordered.slice(0, 4).map(({ id }) => id))
    expect(JSON.parse(sync1?.input as string)).toMatchObject({
      ...{
        siteId: to,
        sourceId: from,
        parts: ['themes'],
        database: true,
        skipHttpCheck: false,
        environmentType: 'local',
      },
    })
    expect(await backups()).toEqual(
      [from, from, to, to].map((site_id, index) => ({ site_id, kind: index % 2 ? 'db' : 'fs', origin: 'ondemand' })),
    )
  })

  test('runs after what was requested for the source before', async () => {
    const { headers } = await owner.call('POST', `/v1/sites/${from}/ondemand-backups`, { backup_type: 'db' })
    await sync({ uploads_directory: true })
    const waits = await api.database.read
      .selectFrom('operation_waits')
      .select('for_id')
      .where('operation_id', '=', (await operations()).at(-1)?.id as number)
      .execute()
    expect(waits.map(({ for_id }) => for_id)).toContain(Number(headers['operation-id']))
  })

  test('backs up only the type that is synced', async () => {
    await sync({ database: true })
    await sync({ uploads_directory: true, skip_http_check: 1 })
    expect((await backups()).map(({ kind }) => kind)).toEqual(['db', 'db', 'fs', 'fs'])
  })

  test.each(['source', 'destination'])('400 without a free slot on the %s, and requests nothing', async (which) => {
    const siteId = which === 'source' ? from : to
    const values = { siteId, kind: 'fs', origin: 'ondemand', createdBy: null, now: 1, deleteAt: 2 } as const
    await api.database.transaction(async (tx) => {
      for (let count = 0; count < 3; count++) await insertBackup(tx, values)
    })
    const refused = await sync({ database: true, plugins_directory: true })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining(`${which}, but the site has no free slot`)] },
    })
    expect(await operations()).toEqual([])
    expect((await sync({ database: true })).status).toBe(200)
  })

  test('400 for a sync of nothing, with itself, of unlike sites, and of one that is not live', async () => {
    expect((await sync({})).status).toBe(400)
    expect((await sync({ database: true, to_site_id: from })).status).toBe(400)
    await change(to, { multisite: 1 })
    expect((await sync({ database: true })).body.errors).toEqual([expect.stringContaining('is a network')])
    expect((await sync({ themes_directory: true })).status).toBe(200)
    await change(to, { multisite: 0 })
    const hostId = (await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id
    const values = {
      name: 'far',
      address: 'http://127.0.0.1:2',
      datacenters: '',
      max_sites: 9,
      facts: '{}',
      seen_at: 0,
    }
    const far = await api.database.transaction((tx) =>
      tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow(),
    )
    await change(to, { host_id: far.id })
    expect((await sync({ themes_directory: true })).body.errors).toEqual([
      expect.stringContaining('different hosts, which do not share a backup storage'),
    ])
    await change(to, { host_id: hostId, core_version: '5.0' })
    expect((await sync({ database: true })).body.errors).toEqual([expect.stringContaining('different versions')])
    await change(from, { state: 'deploying' })
    expect((await sync({ themes_directory: true })).status).toBe(400)
  })

  test('404 and 403: a collaborator needs download_backups on the source and restore_site on the destination', async () => {
    const friend = await api.person('friend@example.com')
    const answer = async () => {
      const { status, body } = await sync({ database: true }, friend)
      return [status, body.errors?.[0]]
    }
    const needs = (role: string) => [403, `You need the role ${role} on this site for this operation.`]
    expect((await answer())[0]).toBe(404)
    await api.collaborate(friend, from, ['download_backups'])
    expect((await answer())[0]).toBe(404)
    await api.collaborate(
      friend,
      to,
      roles.filter((role) => role !== 'restore_site'),
    )
    expect(await answer()).toEqual(needs('restore_site'))
    await api.collaborate(friend, to, ['restore_site'])
    await api.collaborate(
      friend,
      from,
      roles.filter((role) => role !== 'download_backups'),
    )
    expect(await answer()).toEqual(needs('download_backups'))
    expect(await operations()).toEqual([])
    await api.collaborate(friend, from, ['download_backups'])
    expect(await answer()).toEqual([200, undefined])
  })

  test('400 for sites of two accounts, whatever the caller’s roles, and requests nothing', async () => {
    const friend = await api.person('friend@example.com')
    await api.collaborate(friend, from, roles)
    const own = await api.site(friend, 'friends-own')
    for (const ids of [
      { from_site_id: from, to_site_id: own },
      { from_site_id: own, to_site_id: from },
    ]) {
      const { status, body } = await sync({ ...ids, database: true }, friend)
      expect([status, body.errors]).toEqual([
        400,
        ['The two sites cannot be synced: they belong to different accounts.'],
      ])
    }
    expect(await operations()).toEqual([])
    expect(await backups()).toEqual([])
  })

  test('the logs of both sites name the request and the requester', async () => {
    const friend = await api.person('friend@example.com')
    await api.collaborate(friend, from, ['download_backups'])
    await api.collaborate(friend, to, ['restore_site'])
    await sync({ database: true }, friend)
    const entries = await api.database.read
      .selectFrom('activity')
      .select(['site_id', 'action', 'message', 'actor_email'])
      .where('action', 'like', 'site.sync%')
      .orderBy('id')
      .execute()
    const by = { actor_email: friend.email }
    expect(entries).toEqual([
      { site_id: to, action: 'site.sync_ordered', message: 'Requested a sync of the database from source', ...by },
      {
        site_id: from,
        action: 'site.sync_out_ordered',
        message: 'Requested a sync of the database to destination',
        ...by,
      },
    ])
  })

  test('404 and 403: undo needs only the role on the destination', async () => {
    const friend = await api.person('friend@example.com')
    const { headers } = await sync({ database: true })
    const undo = async () => {
      const { status, body } = await friend.call('POST', `/v1/operations/${headers['operation-id']}/undo`)
      return [status, body.errors[0]]
    }
    await api.collaborate(friend, from, ['restore_site'])
    expect(await undo()).toEqual([404, expect.anything()])
    await api.collaborate(friend, to, ['download_backups'])
    expect(await undo()).toEqual([403, expect.anything()])
    await api.collaborate(friend, from, [])
    await api.collaborate(friend, to, ['restore_site'])
    expect(await undo()).toEqual([400, expect.stringContaining('it is still queued')])
  })

  test('two syncs at once, there and back, run one after the other', async () => {
    const both = await Promise.all([
      sync({ database: true }),
      sync({ database: true, from_site_id: to, to_site_id: from }),
    ])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    const waits = await api.database.read.selectFrom('operation_waits').select(['operation_id', 'for_id']).execute()
    for (const { operation_id, for_id } of waits) expect(for_id).toBeLessThan(operation_id)
  })
})
