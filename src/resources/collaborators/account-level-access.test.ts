import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { mailsTo } from './mails.fixture.ts'

const PATH = '/v1/collaborators/update-account-level-access'

describe.each(dialects)('account-level access ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let builder: Person

  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    builder = await api.person('builder@example.com', { plan: 'Personal' })
  })
  afterAll(() => api?.close())

  const collaboratorsOf = async (siteId: number) =>
    (await owner.call('GET', `/v1/sites/${siteId}/collaborators`)).body.data.map(
      (each: { email: string }) => each.email,
    )

  test('403 without the scope owner, 400 for the account itself and for a bad address', async () => {
    const plain = await api.person('owner@example.com', { isOwner: false })
    const refused = await plain.call('PUT', PATH, { email: 'a@example.com', add_to_all_new: true })
    expect(refused.status).toBe(403)
    expect(refused.headers['www-authenticate']).toContain('insufficient_scope')
    expect((await owner.call('PUT', PATH, { email: 'owner@example.com', create_site: true })).status).toBe(400)
    expect((await owner.call('PUT', PATH, { email: 'nobody' })).body.errors).toEqual(['email: must be a valid email'])
  })

  test('200 add_to_all_new: joins every site created from now on with these roles, and no existing one', async () => {
    const before = await api.site(owner, 'before')
    const set = await owner.call('PUT', PATH, {
      email: 'Late@example.com',
      add_to_all_new: true,
      roles: ['manage_dns'],
    })
    expect([set.status, set.body.data]).toEqual([
      200,
      { email: 'late@example.com', add_to_all_new: true, create_site: false },
    ])
    const created = await owner.call('POST', '/v1/sites', { name: 'after' })
    expect(created.status).toBe(201)
    expect(created.body.data.collaboratorsCount).toBe(1)
    expect(await collaboratorsOf(created.body.data.id)).toEqual(['late@example.com'])
    expect(await collaboratorsOf(before)).toEqual([])
    const late = await api.person('late@example.com')
    expect((await late.call('GET', '/v1/collaborators')).body.data).toMatchObject([
      { siteName: 'after', roles: ['manage_dns'] },
    ])
    expect((await late.call('POST', '/v1/sites', { name: 'for-owner', account_id: owner.accountId })).status).toBe(404)
  })

  test('200 an absent field keeps its value, and an address without an entry gets no invitation to nothing', async () => {
    const email = 'kept@example.com'
    const put = async (body: object) => (await owner.call('PUT', PATH, { email, ...body })).body.data
    const entry = () =>
      api.database.read
        .selectFrom('account_access')
        .innerJoin('accounts', 'accounts.id', 'account_access.account_id')
        .select(['add_to_all_new', 'create_site', 'roles'])
        .where('accounts.email', '=', email)
        .executeTakeFirst()
    expect(await put({})).toEqual({ email, add_to_all_new: false, create_site: false })
    expect(await put({ roles: ['manage_dns'] })).toEqual({ email, add_to_all_new: false, create_site: false })
    const accounts = await api.database.read.selectFrom('accounts').select('id').where('email', '=', email).execute()
    expect(accounts).toEqual([])
    await put({ add_to_all_new: true, roles: ['manage_dns'] })
    expect(await put({})).toEqual({ email, add_to_all_new: true, create_site: false })
    expect(await put({ create_site: true })).toEqual({ email, add_to_all_new: true, create_site: true })
    expect(await entry()).toEqual({ add_to_all_new: 1, create_site: 1, roles: '["manage_dns"]' })
    expect(await put({ create_site: false })).toEqual({ email, add_to_all_new: true, create_site: false })
    await put({ roles: ['clone_site'] })
    expect(await entry()).toEqual({ add_to_all_new: 1, create_site: 0, roles: '["clone_site"]' })
    expect(await mailsTo(api.database, email)).toHaveLength(1)
    await put({ add_to_all_new: false, create_site: false })
    expect(await entry()).toBeUndefined()
  })

  test('200 create_site forces add_to_all_new, and the site counts against the owner’s limit and plan', async () => {
    const set = await owner.call('PUT', PATH, {
      email: builder.email,
      create_site: true,
      add_to_all_new: false,
      roles: ['delete_site'],
    })
    expect(set.body.data).toEqual({ email: builder.email, add_to_all_new: true, create_site: true })
    const names = ['build-1', 'build-2', 'build-3', 'build-4', 'build-5']
    for (const name of names) {
      const made = await builder.call('POST', '/v1/sites', {
        name,
        account_id: owner.accountId,
        multisite_support: true,
      })
      expect([name, made.status, made.body.data?.accountId]).toEqual([name, 201, owner.accountId])
    }
    const log = await api.database.read
      .selectFrom('activity')
      .select(['account_id', 'actor_email'])
      .where('action', '=', 'site.created')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    expect(log).toEqual({ account_id: owner.accountId, actor_email: builder.email })
    const own = await builder.call('POST', '/v1/sites', { name: 'own-site' })
    expect(own.body.data.accountId).toBe(builder.accountId)
    expect((await builder.call('POST', '/v1/sites', { name: 'nobodys', account_id: 999_999 })).status).toBe(404)
  })

  test('200 both false ends it, keeps the collaborator on its sites, and invites nobody to nothing', async () => {
    const before = (await builder.call('GET', '/v1/collaborators')).body.data.length
    const ended = await owner.call('PUT', PATH, { email: builder.email, add_to_all_new: false, create_site: false })
    expect(ended.body.data).toEqual({ email: builder.email, add_to_all_new: false, create_site: false })
    expect((await builder.call('GET', '/v1/collaborators')).body.data).toHaveLength(before)
    expect((await builder.call('POST', '/v1/sites', { name: 'too-late', account_id: owner.accountId })).status).toBe(
      404,
    )
    await owner.call('POST', '/v1/sites', { name: 'without-builder' })
    expect((await builder.call('GET', '/v1/collaborators')).body.data).toHaveLength(before)
    await owner.call('PUT', PATH, { email: 'never@example.com', create_site: false })
    const accounts = await api.database.read.selectFrom('accounts').select('email').execute()
    expect(accounts.map(({ email }) => email)).not.toContain('never@example.com')
  })
})
