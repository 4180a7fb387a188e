import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { whileUnderWay } from '../../../test/support/overlap.ts'
import type { Tx } from '../../platform/db/database.ts'
import { setFacts } from '../account/account.store.ts'
import { deleteLoginLinksOfSite, openLoginLink } from './login-link.store.ts'
import { redeemLoginLink } from './redeem-login-link.ts'

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64)'
const cookie = { name: 'wordpress_logged_in_1', value: 'admin|1|x', path: '/', domain: '', isSecure: false }

describe.each(dialects.filter(({ skip }) => !skip))('links that log in once, on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let site: number
  let now: number
  let count = 0
  const runTask = vi.fn()
  const warn = vi.fn()
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api?.close())
  beforeEach(async () => {
    vi.resetAllMocks()
    runTask.mockResolvedValue({ cookies: [cookie], dropIn: false })
    site = await api.site(owner, `linked-${++count}`)
    now = Date.now()
  })

  const ask = (email = owner.email, who = owner) =>
    who.call('POST', `/v1/sites/${site}/one_time_login`, { email, user_agent: USER_AGENT })
  const link = async (): Promise<string> => {
    const { status, body } = await ask()
    expect([status, body.errors]).toEqual([200, null])
    return body.data.url
  }
  const visit = (url: string, { userAgent = USER_AGENT, siteId = site } = {}) => {
    const token = new URL(url).searchParams.get('stead_login') as string
    const seen = { token, userAgent, remoteAddress: '192.0.2.1', https: false }
    const parts = { database: api.database, pool: { runTask }, log: { warn }, now: () => now }
    return redeemLoginLink(parts, { siteId } as never, seen)
  }
  const entries = async () => {
    const rows = api.database.read.selectFrom('activity').select(['action', 'message']).where('site_id', '=', site)
    return (await rows.where('action', 'like', 'one_time_login.%').orderBy('id').execute()).map(
      ({ action, message }) => `${action}: ${message}`,
    )
  }

  test('400: a disabled site has no link', async () => {
    await owner.call('PUT', `/v1/sites/${site}/disable`)
    const { status, body } = await ask()
    expect([status, body.errors]).toEqual([400, ['This operation requires a live site, and this site is disabled.']])
    expect(await entries()).toEqual([])
  })

  test('opened twice at the same moment, log in one of the two', async () => {
    const url = await link()
    const token = new URL(url).searchParams.get('stead_login') as string
    const first = (tx: Tx) => openLoginLink(tx, { siteId: site, token, now })
    expect(await whileUnderWay(api.database, first, [() => visit(url)])).toEqual(['used'])
    expect(runTask).not.toHaveBeenCalled()
  })

  test('log in the owner once, and log creation and use', async () => {
    const url = await link()
    expect(url).toMatch(new RegExp(`^http://linked-${count}\\..*/wp-login.php\\?stead_login=[\\w-]{43}$`))
    expect(await visit(url)).toEqual({ cookies: [cookie] })
    const input = { login: 'admin', userAgent: USER_AGENT, remoteAddress: '192.0.2.1', https: false }
    expect(runTask.mock.calls).toEqual([[{ siteId: site }, 'log-in', input]])
    expect(await visit(url)).toBe('used')
    expect(runTask).toHaveBeenCalledOnce()
    expect(await entries()).toEqual([
      'one_time_login.created: Created a one-time login link to WordPress for owner@example.com, as admin',
      'one_time_login.used: admin logged in to WordPress with a link from 192.0.2.1',
    ])
    const [row] = await api.database.read.selectFrom('login_links').selectAll().where('site_id', '=', site).execute()
    expect(JSON.stringify(row)).not.toContain(new URL(url).searchParams.get('stead_login'))
  })

  test('log in nobody twice, after 30 seconds, in another browser, or on another site', async () => {
    const url = await link()
    const both = await Promise.all([visit(url), visit(url)])
    expect(both.filter((each) => each === 'used')).toHaveLength(1)
    const late = await link()
    now = Date.now() + 30_000
    expect(await visit(late)).toBe('late')
    now = Date.now()
    const stolen = await link()
    expect(await visit(stolen, { userAgent: 'curl/8.0' })).toBe('browser')
    // A stolen link cannot be tried repeatedly.
    expect(await visit(stolen)).toBe('used')
    expect(await visit(await link(), { siteId: site - 1 })).toBe('unknown')
    expect(runTask).toHaveBeenCalledOnce()
    expect((await entries()).filter((each) => each.startsWith('one_time_login.used'))).toHaveLength(1)
  })

  test('log in nobody once the creator or the person logged in lost the role or left', async () => {
    const mate = await api.person(`left-${count}@example.com`)
    const refused = async (email: string, left: () => Promise<unknown>) => {
      await api.collaborate(mate, site, ['wp_access'])
      const { body } = await ask(email, mate)
      await left()
      expect(await visit(body.data.url)).toBe('unknown')
      // The link is used up anyway.
      await api.collaborate(mate, site, ['wp_access'])
      expect(await visit(body.data.url)).toBe('used')
    }
    const leave = () =>
      api.database.transaction((tx) =>
        tx.deleteFrom('collaborators').where('site_id', '=', site).where('account_id', '=', mate.accountId).execute(),
      )
    await refused(mate.email, leave)
    await refused(owner.email, leave)
    await refused(owner.email, () => api.collaborate(mate, site, ['db_admin_access']))
    const { body } = await ask(mate.email)
    await leave()
    expect(await visit(body.data.url)).toBe('unknown')
    expect(runTask).not.toHaveBeenCalled()
  })

  test('log in nobody on a site that was disabled or deleted since, even if it is live again', async () => {
    const [first, second] = [await link(), await link()]
    await owner.call('PUT', `/v1/sites/${site}/disable`)
    expect(await visit(first)).toBe('unknown')
    await owner.call('PUT', `/v1/sites/${site}/enable`)
    expect(await visit(first)).toBe('used')
    await owner.call('DELETE', `/v1/sites/${site}`)
    expect(await visit(second)).toBe('unknown')
    expect(runTask).not.toHaveBeenCalled()
  })

  test('log in a collaborator with the role, under the name that WordPress has', async () => {
    const mate = await api.person(`mate-${count}@example.com`)
    await api.collaborate(mate, site, ['wp_access'])
    const { body } = await ask(`MATE-${count}@example.com`, mate)
    await visit(body.data.url)
    const row = api.database.read.selectFrom('collaborators').select('wp_username').where('site_id', '=', site)
    const { wp_username: login } = await row.executeTakeFirstOrThrow()
    expect(runTask.mock.calls[0]?.[2]).toMatchObject({ login })
  })

  test('400 for callers without a role in the WordPress of the site, and for accounts that turned links off', async () => {
    const mate = await api.person(`other-${count}@example.com`)
    expect((await ask(mate.email)).status).toBe(400)
    await api.collaborate(mate, site, ['manage_notes'])
    const refused = await ask(mate.email)
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringContaining('with the role wp_access')]])
    expect((await ask('nobody@example.com')).status).toBe(400)
    const set = (hasOneTimeLogin: boolean) =>
      api.database.transaction((tx) => setFacts(tx, owner.accountId, { hasOneTimeLogin }))
    await set(false)
    expect((await ask()).body.errors).toEqual([expect.stringContaining('does not allow one-time login links')])
    await set(true)
    expect(await entries()).toEqual([])
  })

  test('400 for a header that browsers do not send', async () => {
    const body = { email: owner.email, user_agent: 'a\r\nb' }
    expect((await owner.call('POST', `/v1/sites/${site}/one_time_login`, body)).status).toBe(400)
  })

  test('report a WordPress that refuses, and flush the session from a custom object cache', async () => {
    runTask.mockRejectedValueOnce(new Error('no such user'))
    expect(await visit(await link())).toBe('failed')
    expect(warn).toHaveBeenCalledOnce()
    runTask.mockResolvedValueOnce({ cookies: [cookie], dropIn: true })
    await visit(await link())
    expect(runTask).toHaveBeenLastCalledWith({ siteId: site }, 'flush-object-cache', {})
  })

  test('are limited in number, and deleted after an hour or with their site', async () => {
    const rows = async () =>
      (await api.database.read.selectFrom('login_links').select('id').where('site_id', '=', site).execute()).length
    const ofAnother = await link()
    const another = site
    site = await api.site(owner, `linked-${++count}`)
    const first = await link()
    for (let i = 0; i < 100; i++) await link()
    expect(await rows()).toBe(100)
    expect(await visit(first)).toBe('unknown')
    // Each site counts separately.
    expect(await visit(ofAnother, { siteId: another })).toEqual({ cookies: [cookie] })
    await api.database.transaction((tx) =>
      tx
        .updateTable('login_links')
        .set({ expires_at: now - 3_600_001 })
        .where('site_id', '=', site)
        .execute(),
    )
    await link()
    expect(await rows()).toBe(1)
    await api.database.transaction((tx) => deleteLoginLinksOfSite(tx, site))
    expect(await rows()).toBe(0)
  })
})
