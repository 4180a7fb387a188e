import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { putRoute } from '../addresses/route.store.ts'

describe.each(dialects)('POST /v1/sites/search on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person

  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    const stranger = await api.person('stranger@example.com')
    const sites = [
      { name: 'shop-one', php_version: '8.2', state: 'disabled', core_version: '6.8.1', datacenter_code: 'AMS' },
      { name: 'shop-two', staging: 1, php_version: '8.3', state: 'live', core_version: '6.8', datacenter_code: 'DFW' },
      { name: 'blog', php_version: '8.3', state: 'live', core_version: '6.9', datacenter_code: 'DFW' },
    ] as const
    for (const { name, ...values } of sites) {
      const id = await api.site(owner, name)
      await api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set(values).where('id', '=', id).execute()
        await putRoute(tx, id, `${name}.example.com`, 1)
      })
    }
    await api.site(stranger, 'shop-of-another')
    const [blog] = (await owner.call('GET', '/v1/sites?per_page=1')).body.data
    expect(blog.name).toBe('blog')
    await owner.call('PUT', `/v1/sites/${blog.id}`, { name: 'Notes: 100 % of them_all' })
    await owner.call('POST', `/v1/sites/${blog.id}/tags`, { tag_names: ['client: Anna'] })
    await stranger.call('POST', `/v1/sites/${(await stranger.call('GET', '/v1/sites')).body.data[0].id}/tags`, {
      tag_names: ['client: Bert'],
    })
  })
  afterAll(() => api?.close())

  const search = async (...filters: [key: string, value: string][]) => {
    const { status, body } = await owner.call('POST', '/v1/sites/search', {
      filters: filters.map(([key, value]) => ({ key, value })),
    })
    expect([status, body.page.totalItems]).toEqual([200, body.data.length])
    return body.data.map(({ name }: { name: string }) => name)
  }

  test('200 name and address by a part, ignoring case, with wildcards taken literally', async () => {
    expect(await search(['name', 'SHOP'])).toEqual(['shop-one', 'shop-two'])
    expect(await search(['domain', 'op-TWO.'])).toEqual(['shop-two'])
    for (const pattern of ['shop%', 'shop_one', '%', '_']) {
      expect(await search(['name', pattern])).toEqual([])
      expect(await search(['domain', pattern])).toEqual([])
    }
  })

  test('200 any: a part of the name, the display name, a domain, or a tag of the caller', async () => {
    expect(await search(['any', 'Shop-O'])).toEqual(['shop-one'])
    expect(await search(['any', 'two.EXAMPLE'])).toEqual(['shop-two'])
    for (const part of ['notes:', '100 %', 'THEM_ALL', 'client: an'])
      expect(await search(['any', part])).toEqual(['blog'])
    for (const part of ['bert', 'them-all', 'n%es', '\\']) expect(await search(['any', part])).toEqual([])
    expect(await search(['any', 'example.com'], ['php_version', '8.2'])).toEqual(['shop-one'])
  })

  test('200 the WordPress release by its beginning, under either name', async () => {
    expect(await search(['cms_version', '6.8'])).toEqual(['shop-one', 'shop-two'])
    expect(await search(['wordpress_version', '6.8.'])).toEqual(['shop-one'])
    expect(await search(['cms_version', '.8'])).toEqual([])
    expect(await search(['cms_version', '6_8'])).toEqual([])
  })

  test('200 the other filters by the whole value', async () => {
    expect(await search(['php_version', '8.3'])).toEqual(['blog', 'shop-two'])
    expect(await search(['php_version', '8'])).toEqual([])
    expect(await search(['state', 'disabled'])).toEqual(['shop-one'])
    expect(await search(['datacenter_code', 'AMS'])).toEqual(['shop-one'])
  })

  test('200 the clones of a site; 400 for an invalid id', async () => {
    const ids = (await owner.call('GET', '/v1/sites')).body.data
    const idOf = (name: string) => ids.find((site: { name: string }) => site.name === name).id
    await api.database.transaction((tx) =>
      tx
        .updateTable('sites')
        .set({ cloned_from_id: idOf('blog') })
        .where('id', '=', idOf('shop-two'))
        .execute(),
    )
    expect(await search(['cloned_from', String(idOf('blog'))])).toEqual(['shop-two'])
    expect(await search(['cloned_from', String(idOf('shop-two'))])).toEqual([])
    const wrong = await owner.call('POST', '/v1/sites/search', { filters: [{ key: 'cloned_from', value: '1 or 1' }] })
    expect([wrong.status, wrong.body.errors]).toEqual([
      400,
      ['filters: the value of cloned_from must be the ID of a site'],
    ])
  })

  test('200 staging sites or others; 400 for a value other than true or false', async () => {
    const both = [await search(['staging', 'true']), await search(['staging', 'false'])]
    expect(both).toEqual([['shop-two'], ['blog', 'shop-one']])
    const wrong = await owner.call('POST', '/v1/sites/search', { filters: [{ key: 'staging', value: 'yes' }] })
    expect([wrong.status, wrong.body.errors]).toEqual([400, ['filters: the value of staging must be true or false']])
  })

  test('200 a tag of the caller by its whole name', async () => {
    expect(await search(['tag', 'client: Anna'])).toEqual(['blog'])
    expect(await search(['tag', 'client: Anna'], ['staging', 'true'])).toEqual([])
    for (const name of ['client', 'client: Bert']) expect(await search(['tag', name])).toEqual([])
  })

  test('200 sites that match every filter', async () => {
    expect(await search(['php_version', '8.3'], ['name', 'shop'])).toEqual(['shop-two'])
    expect(await search(['state', 'live'], ['datacenter_code', 'AMS'])).toEqual([])
    expect(await search(['name', 'shop'], ['domain', 'one'], ['cms_version', '6.8.1'])).toEqual(['shop-one'])
  })
})
