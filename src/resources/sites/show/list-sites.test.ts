import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { fillWithMany } from '../../../../test/support/many.ts'
import { putRoute } from '../addresses/route.store.ts'
import { markDeleted, unmarkDeleted } from '../site.store.ts'
import { listSitesWithIds, visibleSiteIds } from './visible-site.store.ts'

const SITES = 250

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`lists of sites on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    beforeAll(async () => {
      api = await testApi(dialect)
      await api.database.transaction(async (tx) => {
        await tx.deleteFrom('hosts').execute()
        await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
      })
      owner = await api.person('person-1@example.com')
    })
    afterAll(() => api.close())

    const pages = async (query: string) => {
      const all: object[] = []
      for (let page = 1; ; page++) {
        const { body } = await owner.call('GET', `/v1/sites?paginate=1&per_page=50&page=${page}${query}`)
        all.push(...body.data)
        if (body.page.nextPage === null) return { all, total: body.page.totalItems }
      }
    }

    test('the list of all is what the pages have together, however long', async () => {
      const { body } = await owner.call('GET', '/v1/sites')
      const { all, total } = await pages('')
      expect(body).toEqual({ message: 'Success', data: all, errors: null })
      expect([total, new Set(all.map((site) => (site as { id: number }).id)).size]).toEqual([SITES, SITES])
      expect(all.slice(0, 3)).toMatchObject([
        { id: 100, favorite: true },
        { id: 200, favorite: true },
        { id: 1, favorite: false },
      ])
    })

    test('of its names those are counted that are its domains', async () => {
      const { id } = (await owner.call('GET', '/v1/sites')).body.data[0]
      const counted = async () => [
        (await owner.call('GET', `/v1/sites/${id}`)).body.data.domainsCount,
        (await owner.call('GET', '/v1/sites')).body.data[0].domainsCount,
      ]
      const [before] = await counted()
      await api.database.transaction((tx) => putRoute(tx, id, 'of-two-names.staging.test', 1))
      expect(await counted()).toEqual([before, before])
      await api.database.transaction((tx) => putRoute(tx, id, 'www.of-two-names.test', 1, true))
      expect(await counted()).toEqual([before + 1, before + 1])
    })

    test('so is that of a tag', async () => {
      const { body } = await owner.call('GET', '/v1/sites?tag_name=shop')
      const { all, total } = await pages('&tag_name=shop')
      expect([body.data, total]).toEqual([all, 25])
      expect(all[2]).toMatchObject({ id: 10, tags: [{ id: 1, name: 'shop' }] })
    })

    test('the list of a tag follows favourites, deletions and what is taken back, as that of all does', async () => {
      const [made, deleted] = [20, 30]
      const change = (hidden: boolean) =>
        api.database.transaction((tx) => (hidden ? markDeleted(tx, deleted, 1) : unmarkDeleted(tx, deleted, 1)))
      const expectSame = async (second: number, total: number) => {
        const all: { id: number; tags: object[] }[] = (await owner.call('GET', '/v1/sites')).body.data
        const tagged = all.filter(({ tags }) => tags.length > 0).map(({ id }) => id)
        const found = await pages('&tag_name=shop')
        expect([found.all.map((site) => (site as { id: number }).id), found.total]).toEqual([tagged, total])
        expect(tagged[1]).toBe(second)
      }
      await owner.call('POST', `/v1/sites/${made}/favorites`)
      await change(true)
      await expectSame(made, 24)
      await owner.call('DELETE', `/v1/sites/${made}/favorites`)
      await change(false)
      await expectSame(200, 25)
      // a tag that comes later lies at the site's place
      await owner.call('POST', `/v1/sites/${made}/favorites`)
      await owner.call('DELETE', `/v1/sites/${made}/tags`, { tag_ids: [1] })
      await owner.call('POST', `/v1/sites/${made}/tags`, { tag_names: ['shop'] })
      await expectSame(made, 25)
    })

    test('what changes while a list is read leaves its order, and what is gone is not in it', async () => {
      const { read } = api.database
      const ids = await visibleSiteIds(read, owner.accountId)
      const [deleted, raised] = [ids[40] as number, ids.at(-1) as number]
      await api.database.transaction((tx) => markDeleted(tx, deleted, 1))
      await owner.call('POST', `/v1/sites/${raised}/favorites`)
      const sites = await listSitesWithIds(read, owner.accountId, ids)
      expect(sites.map(({ id }) => id)).toEqual(ids.filter((id) => id !== deleted))
      expect(sites.at(-1)).toMatchObject({ id: raised, isFavorite: true })
    })
  })
}
