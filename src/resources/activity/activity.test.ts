import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { actions as accountActions } from '../account/actions.ts'
import { resources } from '../index.ts'
import { actions as siteActions } from '../sites/actions.ts'
import { recordActivity } from './record.ts'

test('every action that a resource declares is recorded by it', () => {
  for (const folder of globSync('src/resources/*/')) {
    const files = globSync(`${folder}/**/*.ts`).filter((file) => !/(\.test|\/actions|\/index)\.ts$/.test(file))
    const code = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const declaring = files.length > 0 && globSync(`${folder}/actions.ts`).map((file) => readFileSync(file, 'utf8'))[0]
    for (const [, name] of (declaring || '').matchAll(/^ {2}'?([a-z_0-9.]+)'?:/gm))
      expect(code.includes(`actions['${name}']`) || code.includes(`actions.${name}`), `${name} is never recorded`).toBe(
        true,
      )
  }
})

/** Returns the names of all actions, or of those on sites. */
const written = (kind?: 'site'): string[] =>
  resources
    .flatMap(({ actions }) => Object.values(actions ?? {}))
    .filter(({ on }) => !kind || on === kind)
    .map(({ name }) => name)

interface Listed {
  name: string
  message: string
  [field: string]: unknown
}

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`activity logs on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let other: Person
    let siteId: number

    const asRequest = (accountEmail: string, ipAddress: string, userAgent = 'test/1') => ({
      caller: { applicationId: 1, accountId: owner.accountId, accountEmail, isOwner: true },
      request: { id: 'r', ipAddress, userAgent, headers: {} },
    })

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      other = await api.person('other@example.com')
      siteId = await api.site(owner, 'logged')
      await api.database.transaction(async (tx) => {
        const accountId = owner.accountId
        const subject = { accountId, now: 1_700_000_000_000 }
        const alice = asRequest('Alice_Smith@example.com', '::ffff:192.0.2.7')
        const bob = asRequest('bob%x@example.com', '2001:DB8::1', 'a'.repeat(600))
        await recordActivity(tx, 'systems', { ...subject, siteId, action: siteActions['site.deployed'], message: '1' })
        await recordActivity(tx, alice, { ...subject, siteId, action: siteActions['site.updated'], message: '2' })
        await recordActivity(tx, bob, {
          ...subject,
          siteId,
          action: siteActions['wordpress.password_reset'],
          message: '3',
        })
        await recordActivity(tx, alice, { ...subject, action: accountActions.settings, message: '4' })
        await recordActivity(tx, alice, {
          ...subject,
          siteId,
          action: siteActions['site.deploy_failed'],
          message: '5',
        })
      })
    })
    afterAll(() => api?.close())

    const accountLog = async (body?: object, who = owner) =>
      (await who.call('POST', '/v1/account/logs/activity', body)).body
    const messages = async (...filters: object[]) =>
      (await accountLog({ filters })).data.map(({ message }: Listed) => message).join('')

    test('200 newest first, with the actor, the address and the user agent', async () => {
      const { data, page } = await accountLog()
      expect(data.map(({ message }: Listed) => message)).toEqual(['5', '4', '3', '2', '1'])
      expect(page).toEqual({ currentPage: 1, nextPage: null, lastPage: 1, perPage: 20, totalItems: 5 })
      expect(data[3]).toEqual({
        id: expect.any(Number),
        timestamp: '2023-11-14T22:13:20.000Z',
        accountEmail: 'alice_smith@example.com',
        ipAddress: '192.0.2.7',
        userAgent: 'test/1',
        name: 'site.updated',
        description: 'Settings of a site were changed',
        source: 'api.v1',
        message: '2',
        site_id: siteId,
        site_name: 'logged',
      })
      expect(data[4]).toMatchObject({ accountEmail: null, ipAddress: null, userAgent: '', source: 'systems' })
      expect(data[2]).toMatchObject({ ipAddress: '2001:db8::1', userAgent: 'a'.repeat(500) })
    })

    test('200 equals: the whole value, ignoring case', async () => {
      const equals = (field: string, value: string) => messages({ field, operator: 'equals', value })
      expect(await equals('action', 'site.updated')).toBe('2')
      expect(await equals('action', 'SITE.UPDATED')).toBe('2')
      expect(await equals('action', 'site')).toBe('')
      expect(await equals('account_email', 'Alice_Smith@Example.com')).toBe('542')
      expect(await equals('ip_address', '192.0.2.7')).toBe('542')
      expect(await equals('ip_address', '2001:DB8::1')).toBe('3')
      expect(await equals('source', 'systems')).toBe('1')
      expect(await equals('source', 'ui')).toBe('')
    })

    test('200 contains: a part of it, without wildcards', async () => {
      const contains = (field: string, value: string) => messages({ field, operator: 'contains', value })
      expect(await contains('action', 'SITE.')).toBe('521')
      expect(await contains('action', 'y_f')).toBe('5')
      expect(await contains('action', 's_t')).toBe('')
      expect(await contains('action', '%')).toBe('')
      expect(await contains('action', '\\')).toBe('')
      expect(await contains('account_email', 'e_s')).toBe('542')
      expect(await contains('account_email', 'b%x')).toBe('3')
      expect(await contains('account_email', "'; drop table activity; --")).toBe('')
      expect(await contains('ip_address', '2.0.2')).toBe('542')
      expect(await contains('source', 'API')).toBe('5432')
    })

    test('200 several filters: all must match', async () => {
      const alice = { field: 'account_email', operator: 'contains', value: 'alice' }
      const failed = { field: 'action', operator: 'contains', value: 'failed' }
      expect(await messages(alice, failed)).toBe('5')
      expect(await messages(alice, failed, { field: 'source', operator: 'equals', value: 'ui' })).toBe('')
      const { page } = await accountLog({ filters: [alice], per_page: 2, page: 2 })
      expect(page).toEqual({ currentPage: 2, nextPage: null, lastPage: 2, perPage: 2, totalItems: 3 })
      expect(await accountLog({ page: 99 })).toMatchObject({ data: [], page: { totalItems: 5 } })
    })

    test('400 for an unknown source, although a part of one can be searched', async () => {
      const ask = (operator: string, value: string) =>
        owner.call('POST', '/v1/account/logs/activity', { filters: [{ field: 'source', operator, value }] })
      expect((await ask('equals', 'nobody')).body.errors).toEqual([
        'filters[0].value: must be one of ui, api.v1, systems',
      ])
      expect([(await ask('equals', 'API.v1')).status, (await ask('contains', 'pi')).status]).toEqual([200, 200])
    })

    test('400 for invalid filters', async () => {
      const bad = { field: 'message', operator: 'like', value: 'x' }
      const { status, body } = await owner.call('POST', '/v1/account/logs/activity', { filters: [bad] })
      expect(status).toBe(400)
      expect(body.errors).toEqual([
        'filters[0].field: must be one of action, account_email, ip_address, source',
        'filters[0].operator: must be one of equals, contains',
      ])
      const nothing = { field: 'action', operator: 'equals', value: 'a\u0000b' }
      expect((await owner.call('POST', '/v1/account/logs/activity', { filters: [nothing] })).status).toBe(400)
    })

    test("200 a site's log for owner and collaborators, 404 for others; an account's for itself", async () => {
      const path = `/v1/sites/${siteId}/logs/activity`
      const { body } = await owner.call('POST', path, {
        filters: [{ field: 'action', operator: 'contains', value: 'site' }],
      })
      expect(body.data.map(({ message }: Listed) => message)).toEqual(['5', '2', '1'])
      expect((await owner.call('POST', path)).body.page.totalItems).toBe(4)
      expect((await other.call('POST', path)).status).toBe(404)
      expect((await accountLog({}, other)).data).toEqual([])
      expect((await api.call('POST', path)).status).toBe(401)
      const added = await owner.call('POST', `/v1/sites/${siteId}/collaborators`, { email: other.email, roles: [] })
      expect(added.status).toBeLessThan(300)
      expect((await other.call('POST', path)).body.page.totalItems).toBe(5)
    })

    test("200 an account's log names the site of each entry, unless it was purged", async () => {
      const gone = await api.site(owner, 'gone')
      await owner.call('PUT', `/v1/sites/${gone}`, { name: 'Its last name' })
      const named = async () =>
        (await accountLog({ per_page: 50 })).data.map(({ site_id, site_name }: Listed) => [site_id, site_name])
      expect(await named()).toEqual(
        expect.arrayContaining([
          [gone, 'Its last name'],
          [siteId, 'logged'],
          [null, null],
        ]),
      )
      expect((await owner.call('DELETE', `/v1/sites/${gone}`)).status).toBeLessThan(300)
      expect(await named()).toContainEqual([gone, null])
      const ofSite = await owner.call('POST', `/v1/sites/${siteId}/logs/activity`)
      expect(ofSite.body.data[0]).not.toHaveProperty('site_name')
    })

    test('200 the lists of actions contain all that can be logged', async () => {
      const list = async (path: string) => (await owner.call('GET', path)).body.data as Listed[]
      const all = await list('/v1/activity/account-actions')
      expect(all.map(({ name }) => name)).toEqual(written().sort())
      const ofSites = await list('/v1/activity/site-actions')
      expect(ofSites.map(({ name }) => name)).toEqual(written('site').sort())
      expect(ofSites.length).toBeGreaterThan(30)
      expect(ofSites).not.toContainEqual(expect.objectContaining({ name: Object.keys(accountActions)[0] }))
      expect(all).toContainEqual({ name: 'site.created', description: 'A site was created' })
    })

    test("200 a request's change is recorded with its caller, address and user agent, and none of its body", async () => {
      const note = { subject: 'Secret plan', body: 'Top secret' }
      const headers = { 'user-agent': 'my-client/2.0' }
      expect((await owner.call('POST', `/v1/sites/${siteId}/notes`, note, headers)).status).toBeLessThan(300)
      const [entry] = (await accountLog()).data
      expect(entry).toMatchObject({
        name: 'note.created',
        accountEmail: owner.email,
        ipAddress: '127.0.0.1',
        userAgent: 'my-client/2.0',
        source: 'api.v1',
      })
      expect(JSON.stringify(entry)).not.toMatch(/secret/i)
    })
  })
}
