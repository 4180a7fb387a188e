import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { grantAccess, hideSite, revokeAllAccess } from '../sites/site-access.store.ts'
import { withExtensions } from './inventory.fixture.ts'

describe.each(dialects)('plugins and themes of all sites on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let helper: Person
  let [shop, blog, others] = [0, 0, 0]

  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    helper = await api.person('helper@example.com')
    const stranger = await api.person('stranger@example.com')
    shop = await api.site(owner, 'red-shop')
    blog = await api.site(owner, 'blue-blog')
    others = await api.site(stranger, 'of-another')
    await withExtensions(api, shop, [
      { slug: 'forms', title: 'Best Forms', version: '2.0', update_version: '2.1', is_automatic: 1 },
      { slug: 'woocommerce', title: 'WooCommerce' },
      { kind: 'theme', slug: 'storefront', title: 'Storefront' },
    ])
    await withExtensions(api, blog, [
      { slug: 'forms', title: 'Better Forms', version: '2.1', is_active: 0 },
      { slug: 'quiet', title: 'Quiet', is_active: 0 },
    ])
    await withExtensions(api, others, [{ slug: 'forms' }, { slug: 'of-another' }])
  })
  afterAll(() => api?.close())

  const list = async (who: Person, path: string) => {
    const { status, body } = await who.call('GET', path)
    expect(status).toBe(200)
    return body
  }
  const slugs = async (who: Person, query = '') =>
    (await list(who, `/v1/plugins${query}`)).data.map(({ slug }: { slug: string }) => slug)
  const sites = async (who: Person, path: string) =>
    (await list(who, path)).data.map(({ name }: { name: string }) => name)
  /** Returns the counts of all accounts, stored and counted again. */
  const counts = async () => {
    const { read } = api.database
    const stored = await read.selectFrom('extension_counts').selectAll().execute()
    const { rows } = await sql<object>`select site_access.account_id, kind, slug, version, count(*) as sites,
        sum(is_active) as active, count(update_version) as update_due, sum(is_automatic) as automatic
      from site_extensions join site_access on site_access.site_id = site_extensions.site_id
      where site_access.is_deleted = 0 group by site_access.account_id, kind, slug, version`.execute(read)
    const texts = (all: readonly object[]) =>
      all.map((row) => JSON.stringify(Object.entries({ ...row, title: '' }).sort())).sort()
    return { stored: texts(stored), counted: texts(rows) }
  }
  const expectExact = async () => {
    const { stored, counted } = await counts()
    expect(stored).toEqual(counted)
    return stored.length
  }

  test('200: each with its versions, and the numbers of sites, those of the most sites first', async () => {
    const { data, page } = await list(owner, '/v1/plugins')
    expect(page).toEqual({ currentPage: 1, nextPage: null, lastPage: 1, perPage: 20, totalItems: 3 })
    expect(data.map(({ slug }: { slug: string }) => slug)).toEqual(['forms', 'quiet', 'woocommerce'])
    expect(data[0]).toEqual({
      ...{ slug: 'forms', name: 'Better Forms', sites: 2, active: 1, update_due: 1, automatic_updates: 1 },
      versions: [
        { version: '2.1', sites: 1 },
        { version: '2.0', sites: 1 },
      ],
    })
    expect((await list(owner, '/v1/themes')).data).toMatchObject([{ slug: 'storefront', sites: 1, active: 1 }])
  })

  test('200: filters, and pages', async () => {
    expect(await slugs(owner, '?q=BEST')).toEqual(['forms'])
    expect(await slugs(owner, '?q=qui')).toEqual(['quiet'])
    expect(await slugs(owner, '?q=%25')).toEqual([])
    expect(await slugs(owner, '?update_due=true')).toEqual(['forms'])
    expect(await slugs(owner, '?update_due=false')).toEqual(['quiet', 'woocommerce'])
    expect(await slugs(owner, '?active=false')).toEqual(['quiet'])
    expect(await slugs(owner, `?site_id=${shop}`)).toEqual(['forms', 'woocommerce'])
    expect(await slugs(owner, `?site_id=${others}`)).toEqual([])
    const second = await list(owner, '/v1/plugins?per_page=2&page=2')
    expect([second.data.length, second.page.totalItems]).toEqual([1, 3])
  })

  test('200: the sites that have it, by name or in order of ID', async () => {
    const { data } = await list(owner, '/v1/plugins/forms/sites')
    expect(data).toEqual([
      {
        ...{ id: blog, name: 'blue-blog', display_name: 'blue-blog', primary_domain: null, staging: false },
        ...{ version: '2.1', active: false, update_version: null, automatic_updates: false },
      },
      {
        ...{ id: shop, name: 'red-shop', display_name: 'red-shop', primary_domain: null, staging: false },
        ...{ version: '2.0', active: true, update_version: '2.1', automatic_updates: true },
      },
    ])
    for (const query of ['update_due=true', 'active=true', 'version=2.0', `after=0&per_page=1`])
      expect(await sites(owner, `/v1/plugins/forms/sites?${query}`), query).toEqual(['red-shop'])
    expect(await sites(owner, `/v1/plugins/forms/sites?after=${shop}`)).toEqual(['blue-blog'])
    expect(await sites(owner, '/v1/themes/storefront/sites')).toEqual(['red-shop'])
  })

  test('404: a plugin that is only on sites that the caller cannot see', async () => {
    for (const slug of ['of-another', 'storefront', 'no-such'])
      expect((await owner.call('GET', `/v1/plugins/${slug}/sites`)).status, slug).toBe(404)
  })

  test('a collaborator sees them while they collaborate', async () => {
    expect(await slugs(helper)).toEqual([])
    const { body } = await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'helper@example.com' })
    await api.database.transaction((tx) => grantAccess(tx, helper.accountId, { id: shop }))
    expect(await slugs(helper)).toEqual(['forms', 'woocommerce'])
    expect(await sites(helper, '/v1/plugins/forms/sites')).toEqual(['red-shop'])
    await expectExact()
    await owner.call('DELETE', `/v1/sites/${shop}/collaborators/${body.data.id}`, {})
    expect(await slugs(helper)).toEqual([])
    await expectExact()
  })

  test('sites in the trash do not count, and count again after they are restored', async () => {
    const hide = (isHidden: boolean) => api.database.transaction((tx) => hideSite(tx, shop, isHidden))
    await hide(true)
    await hide(true)
    expect(await slugs(owner)).toEqual(['forms', 'quiet'])
    expect(await sites(owner, '/v1/plugins/forms/sites')).toEqual(['blue-blog'])
    await expectExact()
    await hide(false)
    await expectExact()
    await hide(false)
    expect(await slugs(owner)).toEqual(['forms', 'quiet', 'woocommerce'])
    await expectExact()
  })

  test('counts stay exact through updates, and repeated lists change nothing', async () => {
    const site = await api.site(owner, 'changing')
    await api.collaborate(helper, site, ['wp_access'])
    const steps = [
      [{ slug: 'forms', version: '2.0' }, { slug: 'mail' }],
      [
        { slug: 'forms', version: '2.0', update_version: '3.0' },
        { slug: 'mail', is_active: 0 as const },
      ],
      [{ slug: 'forms', version: '3.0', is_automatic: 1 as const }],
      // One file of a folder with two plugins is active.
      [
        { slug: 'forms', version: '3.0', title: 'Forms 3', is_active: 0 as const },
        { slug: 'forms', version: '3.1', title: 'Forms 3' },
      ],
      [],
    ]
    const seen: string[] = []
    for (const step of steps) {
      for (let times = 0; times < 2; times++) await withExtensions(api, site, step)
      await expectExact()
      const { data } = await list(helper, '/v1/plugins')
      seen.push(JSON.stringify(data.map((each: { versions: object[] }) => Object.values({ ...each, name: '' }))))
    }
    const [first, second, third, fourth, last] = seen
    const one = (version: string) => [{ version, sites: 1 }]
    expect(JSON.parse(first as string)).toEqual([
      ['forms', '', 1, 1, 0, 0, one('2.0')],
      ['mail', '', 1, 1, 0, 0, one('1.0')],
    ])
    expect(JSON.parse(second as string)).toEqual([
      ['forms', '', 1, 1, 1, 0, one('2.0')],
      ['mail', '', 1, 0, 0, 0, one('1.0')],
    ])
    expect(JSON.parse(third as string)).toEqual([['forms', '', 1, 1, 0, 1, one('3.0')]])
    expect(JSON.parse(fourth as string)).toEqual([['forms', '', 1, 1, 0, 0, one('3.1')]])
    expect(last).toBe('[]')
    await withExtensions(api, site, [{ slug: 'forms', version: '9.0' }])
    await api.database.transaction((tx) => revokeAllAccess(tx, site))
    await expectExact()
  })

  test('a new name of a plugin is shown', async () => {
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Forms Pro', version: '2.1', is_active: 0 }])
    expect((await list(owner, '/v1/plugins?q=pro')).data).toMatchObject([{ slug: 'forms', name: 'Forms Pro' }])
    await expectExact()
  })

  test('two lists at the same time count once each', async () => {
    const some = await Promise.all(['one-more', 'two-more', 'six-more'].map((name) => api.site(owner, name)))
    const lists = [[{ slug: 'a-b' }, { slug: 'z-z' }], [{ slug: 'z-z', version: '2.0' }], [{ slug: 'a-b' }]]
    await Promise.all(some.flatMap((site) => lists.map((each) => withExtensions(api, site, each))))
    await expectExact()
  })

  test('an upgrade counts the same', async () => {
    const { siteExtensions } = await import('../../../migrations/0107-site-extensions.ts')
    const plugin = { description: '', update: 'available', updateVersion: '3.0' }
    const plugins = [
      { ...plugin, name: 'forms', file: 'forms/a.php', title: 'Forms', version: '2.0', status: 'inactive' },
      { ...plugin, name: 'forms', file: 'forms/b.php', title: 'Forms', version: '2.0', status: 'active' },
      { ...plugin, name: 'base', file: 'base.php', title: 'Base', version: '1.0\u0000', status: 'must-use' },
      { ...plugin, name: 'mail', file: 'mail.php', title: 'Mail\u0000', version: '1.0\n', status: 'active-network' },
    ]
    await api.database.transaction(async (tx) => {
      await tx.schema.dropTable('site_extensions').execute()
      await tx.schema.dropTable('extension_counts').execute()
      await tx.schema.dropIndex('plugin_lists_due').execute()
      await tx.schema.alterTable('plugin_lists').dropColumn('due_at').execute()
      await tx.deleteFrom('plugin_lists').execute()
      await sql`insert into plugin_lists (site_id, plugins) values (${shop}, ${JSON.stringify(plugins)})`.execute(tx)
      await siteExtensions.up(tx as never)
    })
    expect(await expectExact()).toBe(2)
    expect((await list(owner, '/v1/plugins')).data).toMatchObject([
      { slug: 'forms', sites: 1, active: 1, update_due: 1 },
      { slug: 'mail', name: 'Mail', versions: [{ version: '1.0' }] },
    ])
    const due = await api.database.read.selectFrom('plugin_lists').select('due_at').execute()
    expect(due.length).toBeGreaterThan(3)
    for (const { due_at } of due) expect(due_at).toBeGreaterThan(Date.now() - 60_000)
  })
})
