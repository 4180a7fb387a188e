import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchWords } from '../../../migrations/0089-search-words.ts'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { setFacts } from '../account/account.store.ts'
import { deleteDomainRoute, putDomainRoute } from '../sites/addresses/route.store.ts'
import { hideSite } from '../sites/site-access.store.ts'
import { withdrawSite } from './search-words.store.ts'
import { foldedWords } from './words.ts'

test('words ignore case, accents and punctuation', () => {
  expect(foldedWords('Café-Shop.example  ÜBER_42')).toEqual(['cafe', 'shop', 'example', 'uber', '42'])
  expect(foldedWords(' –!% ')).toEqual([])
  expect(foldedWords('x'.repeat(100))).toEqual(['x'.repeat(64)])
})

describe.each(dialects)('GET /v1/search on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let helper: Person
  let [shop, blog] = [0, 0]

  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    helper = await api.person('helper@example.com')
    const stranger = await api.person('stranger@example.com')
    shop = await api.site(owner, 'red-shop')
    blog = await api.site(owner, 'shopping-blog')
    await api.site(stranger, 'shop-of-another')
  })
  afterAll(() => api?.close())

  const find = async (who: Person, q: string, more = '') => {
    const { status, body } = await who.call('GET', `/v1/search?q=${encodeURIComponent(q)}${more}`)
    expect(status).toBe(200)
    const { sites, people } = body.data
    return [...sites, ...people].map(({ name, email }: { name: string; email?: string }) => email ?? name)
  }

  test('200: each word begins a word of a visible site, exact words first', async () => {
    expect(await find(owner, 'SHOP')).toEqual(['red-shop', 'shopping-blog'])
    expect(await find(owner, 'sh bl')).toEqual(['shopping-blog'])
    expect(await find(owner, 'shop', '&limit=1')).toEqual(['red-shop'])
    for (const q of ['hop', 'shop zzz', '%', '_', '!']) expect(await find(owner, q)).toEqual([])
    expect(await find(helper, 'shop')).toEqual([])
  })

  test('200: finds the current display name, domains and tags, and only the caller’s tags', async () => {
    await owner.call('PUT', `/v1/sites/${blog}`, { name: 'Café Ünder' })
    expect(await find(owner, 'cafe ünd')).toEqual(['shopping-blog'])
    await owner.call('PUT', `/v1/sites/${blog}`, { name: 'Tea' })
    expect(await find(owner, 'cafe')).toEqual([])
    const run = (work: Parameters<TestApi['database']['transaction']>[0]) => api.database.transaction(work)
    await run((tx) => putDomainRoute(tx, blog, 'www.mountains.example', 1))
    expect(await find(owner, 'www.mountains.ex')).toEqual(['shopping-blog'])
    await run((tx) => deleteDomainRoute(tx, blog, 'www.mountains.example'))
    expect(await find(owner, 'mountains')).toEqual([])
    await owner.call('POST', `/v1/sites/${blog}/tags`, { tag_names: ['client: Anna'] })
    expect(await find(owner, 'anna')).toEqual(['shopping-blog'])
    const [tag] = (await owner.call('GET', `/v1/sites/${blog}`)).body.data.tags
    expect((await owner.call('DELETE', `/v1/sites/${blog}/tags`, { tag_ids: [tag.id] })).status).toBe(200)
    expect(await find(owner, 'anna')).toEqual([])
  })

  test('200: finds nothing of a site that the caller cannot see, even if words of it remain', async () => {
    const left = { account_id: helper.accountId, kind: 'site' as const, about_id: shop, word: 'leftover' }
    await api.database.transaction((tx) => tx.insertInto('search_words').values(left).execute())
    expect(await find(helper, 'leftover')).toEqual([])
    await api.database.transaction((tx) => tx.deleteFrom('search_words').where('word', '=', 'leftover').execute())
  })

  test('200: a collaborator finds the site, and the owner the collaborator, until the collaboration ends', async () => {
    await owner.call('POST', `/v1/sites/${blog}/tags`, { tag_names: ['secret'] })
    await owner.call('POST', `/v1/sites/${shop}/collaborators`, { email: 'helper@example.com' })
    const added = await owner.call('POST', `/v1/sites/${blog}/collaborators`, { email: 'helper@example.com' })
    expect(await find(helper, 'shopping')).toEqual(['shopping-blog'])
    expect(await find(helper, 'secret')).toEqual([])
    expect(await find(owner, 'help exam')).toEqual(['helper@example.com'])
    expect(await find(helper, 'owner')).toEqual([])
    await api.database.transaction((tx) => setFacts(tx, helper.accountId, { name: 'Grace Hopper' }))
    expect(await find(owner, 'hopp')).toEqual(['helper@example.com'])
    await owner.call('DELETE', `/v1/sites/${blog}/collaborators/${added.body.data.id}`, {})
    expect(await find(helper, 'shopping')).toEqual([])
    expect(await find(owner, 'hopper')).toEqual(['helper@example.com'])
  })

  test('200: still finds a person who has the number of a site that was purged', async () => {
    const words = { account_id: owner.accountId, about_id: 9_001 }
    await api.database.transaction(async (tx) => {
      await tx
        .insertInto('search_words')
        .values([
          { ...words, kind: 'person', word: 'zaphod' },
          { ...words, kind: 'site', word: 'magrathea' },
        ])
        .execute()
      await withdrawSite(tx, 9_001)
    })
    const left = await api.database.read
      .selectFrom('search_words')
      .select('word')
      .where('about_id', '=', 9_001)
      .execute()
    expect(left).toEqual([{ word: 'zaphod' }])
    await api.database.transaction((tx) => tx.deleteFrom('search_words').where('about_id', '=', 9_001).execute())
  })

  test('200: finds nothing of a site in the trash, which is found again after it is restored', async () => {
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', shop).execute(),
    )
    await api.database.transaction((tx) => hideSite(tx, shop, true))
    expect([await find(owner, 'red'), await find(owner, 'hopper')]).toEqual([[], []])
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: null }).where('id', '=', shop).execute(),
    )
    await api.database.transaction((tx) => hideSite(tx, shop, false))
    expect([await find(owner, 'red'), await find(owner, 'hopper')]).toEqual([['red-shop'], ['helper@example.com']])
  })

  test('400: more than eight words', async () => {
    const { status, body } = await owner.call('GET', `/v1/search?q=${'a '.repeat(1)}b c d e f g h i`)
    expect([status, body.errors]).toEqual([400, ['q: must have at most 8 words']])
  })

  test('an upgrade creates the same words', async () => {
    const rows = () => api.database.read.selectFrom('search_words').selectAll().execute()
    const sorted = async () => (await rows()).map((row) => JSON.stringify(Object.entries(row).sort())).sort()
    const before = await sorted()
    await api.database.transaction(async (tx) => {
      await tx.schema.dropTable('search_words').execute()
      await searchWords.up(tx as never)
    })
    expect(await sorted()).toEqual(before)
  })
})
