import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { withExtensions } from '../inventory/inventory.fixture.ts'
import { hideSite } from '../sites/site-access.store.ts'
import { judge } from './judge-vulnerabilities.job.ts'
import { withVulnerabilities } from './vulnerabilities.fixture.ts'
import { installedAnywhere, vulnerabilitiesOf, withRows } from './vulnerability.store.ts'

describe.each(dialects)('known vulnerabilities on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let [shop, blog] = [0, 0]
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    shop = await api.site(owner, 'red-shop')
    blog = await api.site(owner, 'blue-blog')
    const others = await api.site(await api.person('stranger@example.com'), 'of-another')
    await withExtensions(api, shop, [
      { slug: 'forms', title: 'Best Forms', version: '2.0' },
      { slug: 'quiet', version: '1.0', is_active: 0 },
      { kind: 'theme', slug: 'paper', version: '3.0' },
    ])
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '1.5' }])
    await withExtensions(api, others, [
      { slug: 'forms', version: '1.0' },
      { slug: 'gallery', version: '1.0' },
    ])
  })
  beforeEach(() =>
    api.database.transaction(async (tx) => {
      await tx.deleteFrom('vulnerabilities').execute()
      await tx.deleteFrom('alerts').execute()
    }),
  )
  afterAll(() => api?.close())

  const list = async (query = '', who = owner) => {
    const { status, body } = await who.call('GET', `/v1/vulnerabilities${query}`)
    expect(status).toBe(200)
    return body
  }
  const ids = async (query = '', who = owner) => (await list(query, who)).data.map(({ id }: { id: string }) => id)
  const given = (...all: Parameters<typeof withVulnerabilities>[1]) =>
    api.database.transaction((tx) => withVulnerabilities(tx, all))

  test('200: those of affected versions on sites that the caller sees, the most severe first', async () => {
    const severe = { cvss: { score: 9.8, rating: 'Critical' } }
    await given(
      { slug: 'forms', fixed: ['1.6', '2.1', '1.2'] },
      { slug: 'quiet', more: severe },
      { slug: 'paper', type: 'theme', to: '2.9' },
      { id: 'another', slug: 'paper', type: 'plugin', to: '9' },
      { slug: 'gallery' },
    )
    expect(await ids()).toEqual(['of-quiet', 'of-forms'])
    const { data, page } = await list('?per_page=1&page=2')
    expect(page).toMatchObject({ totalItems: 2, lastPage: 2 })
    const [{ versions, ...about }] = data
    expect(about).toEqual({
      ...{ id: 'of-forms', title: 'forms <= 2.0: stored cross-site scripting', kind: 'plugin', slug: 'forms' },
      ...{ name: 'Best Forms', severity: 'medium', score: 6.4, cve: 'CVE-2026-12345' },
      ...{ link: 'https://vulnerabilities.example/one', published_at: '2026-03-01T12:00:00.000Z', sites: 2 },
    })
    expect(versions).toHaveLength(2)
    expect(versions).toContainEqual({ version: '1.5', sites: 1, fixed_in: '1.6' })
    expect(versions).toContainEqual({ version: '2.0', sites: 1, fixed_in: '2.1' })
    expect(await ids(`?site_id=${blog}`)).toEqual(['of-forms'])
    expect(await ids('?severity=critical')).toEqual(['of-quiet'])
    expect(await ids('?kind=theme')).toEqual([])
  })

  test('200: WordPress itself, by the version of each site', async () => {
    await given({ slug: 'wordpress', type: 'core', to: '6.7.1', fixed: ['6.7.2'] })
    const run = (version: string) =>
      api.database.transaction((tx) =>
        tx.updateTable('sites').set({ core_version: version }).where('id', '=', shop).execute(),
      )
    await run('6.7.1')
    expect((await list('?kind=core')).data).toMatchObject([
      { name: 'WordPress', sites: 1, versions: [{ version: '6.7.1', sites: 1, fixed_in: '6.7.2' }] },
    ])
    expect(await ids(`?site_id=${shop}`)).toEqual(['of-wordpress'])
    await run('6.7.2')
    expect(await ids()).toEqual([])
  })

  test('200: nothing of a site that the caller cannot see, or that was deleted', async () => {
    await given({ slug: 'forms' })
    const stranger = await api.person('nobody@example.com')
    expect([await ids('', stranger), await ids(`?site_id=${shop}`, stranger)]).toEqual([[], []])
    const gone = await api.site(stranger, 'gone-site')
    await withExtensions(api, gone, [{ slug: 'forms' }])
    expect(await ids(`?site_id=${gone}`, stranger)).toEqual(['of-forms'])
    await api.database.transaction((tx) => hideSite(tx, gone, true))
    expect(await ids(`?site_id=${gone}`, stranger)).toEqual([])
  })

  const judging = () => ({
    ...{ read: api.database.read, signal: new AbortController().signal, now: Date.now },
    transaction: <Result>(work: (tx: Tx) => Promise<Result>) => api.database.transaction(work),
  })
  const open = async () => {
    const rows = api.database.read.selectFrom('alerts').select(['site_id', 'subject', 'detail']).orderBy('site_id')
    const found = await rows.where('site_id', '=', blog).where('ended_at', 'is', null).execute()
    return found.map(({ site_id, subject, detail }) => [site_id, subject, detail])
  }

  test('a site with a vulnerable version has an alert until it is updated, and webhooks get it', async () => {
    await given({ slug: 'forms', to: '1.9' }, { id: 'second', slug: 'forms', to: '1.9', fixed: [] })
    const decide = () => judge(judging())
    await decide()
    await decide()
    expect(await open()).toEqual([
      [
        blog,
        'Best Forms',
        'Version 1.5: forms <= 1.9: stored cross-site scripting, and 1 more. No version fixes it yet. Consider removing it',
      ],
    ])
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '1.6' }])
    await decide()
    expect(await open()).toEqual([[blog, 'Best Forms', expect.stringContaining('Version 1.6: ')]])
    const events = api.database.read.selectFrom('events').select('type').where('site_id', '=', blog)
    expect((await events.execute()).filter(({ type }) => type === 'vulnerability_found')).toHaveLength(1)
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '2.0' }])
    await decide()
    expect(await open()).toEqual([])
  })

  test('what was updated between the comparison and the change raises no alert, and other sites are left alone', async () => {
    await given({ slug: 'forms' })
    const context = judging()
    let changes = 0
    const transaction: typeof context.transaction = async (work) => {
      changes++
      await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '3.0' }])
      return context.transaction(work)
    }
    await judge({ ...context, transaction })
    expect(await open()).toEqual([])
    const all = await api.database.read.selectFrom('alerts').select('site_id').where('ended_at', 'is', null).execute()
    expect(all.map(({ site_id }) => site_id)).toContain(shop)
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '1.5' }])
    changes = 0
    const counted: typeof context.transaction = (work) => {
      changes++
      return context.transaction(work)
    }
    await judge({ ...context, transaction: counted })
    expect([changes, (await open()).length]).toEqual([1, 1])
    // Nothing to change: nothing waits for it.
    await judge({ ...context, transaction: counted })
    expect(changes).toBe(1)
  })

  test('those of a long feed are all compared, and other work runs between', async () => {
    const slugs = Array.from({ length: 250 }, (_, at) => `plugin-${1000 + at}`)
    await given(...slugs.map((slug) => ({ slug })), { slug: 'paper', type: 'theme', to: '3.0' })
    const some = [0, 99, 100, 199, 249].map((at) => slugs[at] as string)
    await withExtensions(
      api,
      blog,
      some.map((slug) => ({ slug })),
    )
    let turns = 0
    const between = async () => turns++
    const installed = await installedAnywhere(api.database.read, { between })
    expect(installed.flatMap(({ kind, slug }) => (kind === 'core' ? [] : [slug]))).toEqual([...some, 'paper'])
    const found = await vulnerabilitiesOf(api.database.read, installed)
    const read = turns
    expect([read, (await withRows(api.database.read, found, { between })).length]).toEqual([4, 6])
    expect(turns).toBe(5)
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '1.5' }])
  })

  test('an alert of a plugin with an endless name stays open', async () => {
    await given({ slug: 'long' })
    await withExtensions(api, blog, [{ slug: 'long', title: 'x'.repeat(2000) }])
    for (let round = 0; round < 2; round++) await judge(judging())
    expect(await open()).toMatchObject([[blog, 'x'.repeat(500), expect.stringContaining('Version 1.0')]])
    await withExtensions(api, blog, [{ slug: 'forms', title: 'Best Forms', version: '1.5' }])
  })
})
