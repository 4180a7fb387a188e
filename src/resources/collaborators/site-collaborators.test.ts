import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { findMembership, setWpUsername } from './collaborator.store.ts'
import { subjectsTo } from './mails.fixture.ts'

describe.each(dialects)('collaborators of a site ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let stranger: Person
  let shop: number

  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    stranger = await api.person('stranger@example.com')
    shop = await api.site(owner, 'shop')
  })
  afterAll(() => api?.close())

  const mailsTo = (email: string) => subjectsTo(api.database, email)

  test('200 an unknown address gets an account with the plan Personal, an invitation, an event, and an activity entry', async () => {
    const added = await owner.call('POST', `/v1/sites/${shop}/collaborators`, {
      email: ' New.Person+Shop@Example.com ',
      roles: ['wp_access', 'manage_dns', 'wp_access'],
    })
    expect(added.status).toBe(200)
    expect(added.body.data).toMatchObject({
      email: 'new.person+shop@example.com',
      name: 'new.person+shop',
      siteId: shop,
      siteName: 'shop',
      state: 'active',
      wpUsername: 'new.personshop',
      roles: ['manage_dns', 'wp_access'],
    })
    expect(Object.keys(added.body.data).sort()).toEqual([
      'accountId',
      'created',
      'email',
      'id',
      'name',
      'roles',
      'siteId',
      'siteName',
      'state',
      'updated',
      'wpUsername',
    ])
    const log = api.database.read.selectFrom('activity').select(['action', 'message'])
    expect(await log.where('account_id', '=', added.body.data.accountId).execute()).toEqual([
      { action: 'created', message: 'Created the account new.person+shop@example.com by invitation' },
    ])
    const account = await api.database.read
      .selectFrom('accounts')
      .selectAll()
      .where('id', '=', added.body.data.accountId)
      .executeTakeFirstOrThrow()
    expect(account).toMatchObject({ email: 'new.person+shop@example.com', plan: 'Personal' })
    expect(await mailsTo(account.email)).toEqual([`${owner.email} invites you to work on the site shop`])
    const events = await api.database.read
      .selectFrom('events')
      .selectAll()
      .where('type', '=', 'collaborator_added')
      .execute()
    expect(events).toHaveLength(1)
    const entry = await api.database.read
      .selectFrom('activity')
      .selectAll()
      .where('action', '=', 'account.collaborator')
      .executeTakeFirstOrThrow()
    expect(entry).toMatchObject({ account_id: owner.accountId, site_id: shop, actor_email: owner.email })
    // The work in WordPress, in the queue of the site.
    const operation = await owner.call('GET', `/v1/operations/${added.headers['operation-id']}`)
    expect(operation.body.data).toMatchObject({ type: 'collaborator.sync_wp_user', siteId: shop })
  })

  test('200 a known address without roles gets a notice and no work in WordPress, and lists the site at once', async () => {
    const friend = await api.person('friend@example.com')
    expect((await friend.call('GET', '/v1/sites')).body.data).toEqual([])
    const added = await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'friend@example.com' })
    expect(added.body.data.roles).toEqual([])
    expect(added.headers['operation-id']).toBeUndefined()
    expect(await mailsTo(friend.email)).toEqual(['You can now work on the site shop'])
    expect((await friend.call('GET', '/v1/sites')).body.data).toMatchObject([{ id: shop, collaboratorsCount: 2 }])
  })

  test('400 for an existing collaborator, the owner, a bad address, and roles that do not exist', async () => {
    const add = (body: object) => owner.call('POST', `/v1/sites/${shop}/collaborators`, body)
    expect((await add({ email: 'FRIEND@example.com' })).body.errors).toEqual([
      'email: friend@example.com is already a collaborator of this site.',
    ])
    expect((await add({ email: 'owner@example.com' })).body.errors).toEqual([
      'email: owner@example.com owns the site and cannot be its collaborator.',
    ])
    for (const email of [
      '',
      'nobody',
      'a@b@c',
      'a b@example.com',
      `${'a'.repeat(101)}@example.com`,
      'a@example.com\r\nBcc: x@y.z',
    ])
      expect([email, (await add({ email })).status]).toEqual([email, 400])
    const faults = await add({ email: 'x@example.com', roles: ['wp_access', 'root', 'king'] })
    expect(faults.status).toBe(400)
    expect(faults.body.errors.map((each: string) => each.split(':')[0])).toEqual(['roles[1]', 'roles[2]'])
    expect((await add({})).body.errors).toEqual(['email: is required'])
    const accounts = await api.database.read.selectFrom('accounts').select('email').execute()
    expect(accounts.map(({ email }) => email)).not.toContain('x@example.com')
  })

  test('200 lists and reads: without roles for the site, with roles account-wide, and nothing for a foreigner', async () => {
    const ofSite = await owner.call('GET', `/v1/sites/${shop}/collaborators`)
    expect(ofSite.body.data.map((each: { email: string }) => each.email)).toEqual([
      'new.person+shop@example.com',
      'friend@example.com',
    ])
    expect(ofSite.body.data.every((each: object) => !('roles' in each))).toBe(true)
    const id = ofSite.body.data[0].id
    expect((await owner.call('GET', `/v1/sites/${shop}/collaborators/${id}`)).body.data).toEqual(ofSite.body.data[0])
    expect((await owner.call('GET', `/v1/collaborators/${id}`)).body.data).toEqual({
      ...ofSite.body.data[0],
      roles: ['manage_dns', 'wp_access'],
    })
    expect((await owner.call('GET', '/v1/collaborators')).body.data).toHaveLength(2)
    expect((await stranger.call('GET', '/v1/collaborators')).body.data).toEqual([])
    for (const path of [
      `/v1/collaborators/${id}`,
      `/v1/sites/${shop}/collaborators`,
      `/v1/sites/${shop}/collaborators/${id}`,
    ])
      expect((await stranger.call('GET', path)).status).toBe(404)
    const elsewhere = await api.site(owner, 'elsewhere')
    expect((await owner.call('GET', `/v1/sites/${elsewhere}/collaborators/${id}`)).status).toBe(404)
  })

  test("200 the account-wide list has own sites' collaborators and own collaborations, each once, in order of id", async () => {
    const friend = await api.person('friend@example.com')
    const own = await api.site(friend, 'friends-own')
    await friend.call('POST', `/v1/sites/${own}/collaborators`, { email: 'owner@example.com', roles: 'manage_notes' })
    const { data } = (await friend.call('GET', '/v1/collaborators')).body
    expect(data.map((each: { siteName: string; email: string }) => [each.siteName, each.email])).toEqual([
      ['shop', 'friend@example.com'],
      ['friends-own', 'owner@example.com'],
    ])
    const ids = data.map(({ id }: { id: number }) => id)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    await friend.call('DELETE', `/v1/sites/${own}`)
    expect((await friend.call('GET', '/v1/collaborators')).body.data).toHaveLength(1)
  })

  test('200 removing ends it on both sides, with its favorite and tags, and with the WordPress user only on request', async () => {
    const leaver = await api.person('leaver@example.com')
    const add = async () =>
      (await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: leaver.email, roles: ['wp_access'] })).body
        .data.id
    const first = await add()
    await leaver.call('POST', `/v1/sites/${shop}/favorites`)
    expect((await leaver.call('DELETE', `/v1/sites/${shop}/collaborators/${first}`)).status).toBe(403)
    const removed = await owner.call('DELETE', `/v1/sites/${shop}/collaborators/${first}`)
    expect([removed.status, removed.body.data, removed.headers['operation-id']]).toEqual([200, null, undefined])
    expect((await leaver.call('GET', `/v1/sites/${shop}`)).status).toBe(404)
    expect((await owner.call('DELETE', `/v1/sites/${shop}/collaborators/${first}`)).status).toBe(404)
    const second = await add()
    expect((await leaver.call('GET', `/v1/sites/${shop}`)).body.data.favorite).toBe(false)
    const withUser = await owner.call('DELETE', `/v1/sites/${shop}/collaborators/${second}?delete_wp_user=1`)
    const operation = (await owner.call('GET', `/v1/operations/${withUser.headers['operation-id']}`)).body.data
    expect(operation.type).toBe('collaborator.sync_wp_user')
    const events = await api.database.read
      .selectFrom('events')
      .select('data')
      .where('type', '=', 'collaborator_deleted')
      .execute()
    expect(events.map(({ data }) => JSON.parse(data).collaborator_id)).toEqual([first, second])
  })

  test('403 without the role, and with create_collaborator any role may be given', async () => {
    const helper = await api.person('helper@example.com')
    const add = (email: string, held: string[]) =>
      helper.call('POST', `/v1/sites/${shop}/collaborators`, { email, roles: held })
    await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: helper.email, roles: ['manage_dns'] })
    const refused = await add('third@example.com', [])
    expect(refused.status).toBe(403)
    expect(refused.body.errors).toEqual(['You need the role create_collaborator on this site for this operation.'])
    await api.database.transaction(async (tx) => {
      await tx
        .updateTable('collaborators')
        .set({ roles: '["create_collaborator"]' })
        .where('account_id', '=', helper.accountId)
        .execute()
    })
    expect((await add('third@example.com', ['delete_site'])).status).toBe(200)
    expect((await add(helper.email, ['delete_site'])).status).toBe(400)
  })

  test('two simultaneous additions of the same person: one 200, one 400, one row', async () => {
    const replies = await Promise.all(
      [1, 2, 3].map(() => owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'once@example.com' })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  test('names in WordPress differ on one site', async () => {
    const names = []
    for (const email of ['jane@a.example', 'jane@b.example', 'admin@a.example', '+++@a.example'])
      names.push((await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email })).body.data.wpUsername)
    expect(names).toEqual(['jane', 'jane-2', 'admin-2', 'user'])
  })

  test('400 for a password of a collaborator without wp_access, 404 for one of another site', async () => {
    const [{ id }] = (await owner.call('GET', `/v1/sites/${shop}/collaborators`)).body.data.filter(
      (each: { email: string }) => each.email === 'friend@example.com',
    )
    const reply = await owner.call('PUT', `/v1/sites/${shop}/collaborators/${id}/wp-password-reset`)
    expect([reply.status, reply.body.errors]).toEqual([
      400,
      ['The collaborator has no WordPress user. Give them the role wp_access first.'],
    ])
    expect((await owner.call('PUT', `/v1/sites/${shop}/collaborators/999999/wp-password-reset`)).status).toBe(404)
  })

  test('each collaborator with sftp_access gets their own SFTP user, and others get none', async () => {
    const site = await api.site(owner, 'files')
    const add = async (email: string, roles: string[]) =>
      (await owner.call('POST', `/v1/sites/${site}/collaborators`, { email, roles })).body.data.accountId
    const withFiles = await add('files@example.com', ['sftp_access'])
    await add('notes@example.com', ['manage_notes'])
    const rows = api.database.read.selectFrom('sftp_users').select('account_id').where('site_id', '=', site)
    expect((await rows.orderBy('account_id').execute()).map((row) => row.account_id)).toEqual([
      owner.accountId,
      withFiles,
    ])
  })

  test('the name that WordPress has for one is not used for others', async () => {
    const [site, second] = [await api.site(owner, 'names'), await api.site(owner, 'more-names')]
    const [one, other] = [await api.person('one@example.com'), await api.person('other@example.com')]
    for (const person of [one, other]) await api.collaborate(person, site, ['wp_access'])
    await api.collaborate(one, second, ['wp_access'])
    await api.database.transaction((tx) => setWpUsername(tx, site, one.accountId, 'first'))
    const nameOf = async ({ accountId }: Person, at = site) =>
      (await findMembership(api.database.read, at, accountId))?.wpUsername
    expect([await nameOf(one), await nameOf(other)]).toEqual(['first', `user${other.accountId}`])
    // Nor for the same one on another site.
    expect(await nameOf(one, second)).toBe(`user${one.accountId}`)
  })
})
