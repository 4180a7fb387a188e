import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { lookAtShop } from './list-plugins.job.ts'
import { withPlugins } from './plugins.fixture.ts'

describe.each(dialects)('advice for a site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const hostHas = (databases: Record<string, string>) =>
    api.database.transaction((tx) =>
      tx
        .updateTable('hosts')
        .set({ facts: JSON.stringify({ databases }) })
        .execute(),
    )
  const advice = async (site: number) => (await owner.call('GET', `/v1/sites/${site}/advice`)).body.data

  test('is to move a shop to MariaDB, if its host has it and the site does not use it', async () => {
    const [shop, blog] = [await api.site(owner, 'shop'), await api.site(owner, 'blog')]
    await withPlugins(api, shop, 'woocommerce')
    await withPlugins(api, blog, 'woocommerce-forms')
    expect(await advice(shop)).toEqual([])

    await hostHas({ '8.2': 'mariadb', '8.3': 'sqlite' })
    expect(await advice(shop)).toEqual([
      { code: 'shop_on_embedded_database', phpVersion: '8.2', message: expect.stringContaining('"php_version":"8.2"') },
    ])
    expect(await advice(blog)).toEqual([])

    await hostHas({ '8.2': 'mariadb', '8.3': 'mariadb' })
    // Its own version, and not the newest.
    expect(await advice(shop)).toMatchObject([{ phpVersion: '8.3' }])
  })

  test('is based on plugins that are listed again after a site reports that WooCommerce changed', async () => {
    const shop = await api.site(owner, 'shop')
    const lookAt = (site: number) => api.database.transaction((tx) => lookAtShop(tx, site, Date.now()))
    for (const site of [shop, shop + 1]) await lookAt(site)
    const listings = await api.database.read
      .selectFrom('operations')
      .select('input')
      .where('type', '=', 'plugin.list')
      .execute()
    expect(listings).toEqual([{ input: JSON.stringify({ siteId: shop }) }])
  })
})
