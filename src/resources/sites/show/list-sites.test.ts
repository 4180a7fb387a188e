import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { fillWithMany } from '../../../../test/support/many.ts'
import { storeUsages } from '../../statistics/statistics.store.ts'
import { putRoute } from '../addresses/route.store.ts'
import { changeSite, markDeleted, unmarkDeleted } from '../site.store.ts'
import { grantAccess } from '../site-access.store.ts'
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

    test('the list of all sites equals its pages together, however long', async () => {
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

    test('counts those of its names that are its domains', async () => {
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

    test('the list of a tag equals its pages together', async () => {
      const { body } = await owner.call('GET', '/v1/sites?tag_name=shop')
      const { all, total } = await pages('&tag_name=shop')
      expect([body.data, total]).toEqual([all, 25])
      expect(all[2]).toMatchObject({ id: 10, tags: [{ id: 1, name: 'shop' }] })
    })

    test('the list of a tag follows favorites, deletions and recoveries, like the list of all sites', async () => {
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
      // A tag that is added later is sorted at the site's place.
      await owner.call('POST', `/v1/sites/${made}/favorites`)
      await owner.call('DELETE', `/v1/sites/${made}/tags`, { tag_ids: [1] })
      await owner.call('POST', `/v1/sites/${made}/tags`, { tag_names: ['shop'] })
      await expectSame(made, 25)
    })

    describe('sorted', () => {
      interface Listed {
        readonly id: number
        readonly name: string
        readonly phpVersion: string
      }
      beforeAll(() =>
        api.database.transaction(async (tx) => {
          for (const id of [7, 90, 200]) await changeSite(tx, id, { phpVersion: '8.1' }, 1)
          const usages = new Map([
            [100, { databaseBytes: 5_000_000_000, fileBytes: 1 }],
            [7, { databaseBytes: 900, fileBytes: 100 }],
            [9, { databaseBytes: 1, fileBytes: 999 }],
          ])
          await storeUsages(tx, usages, 1)
        }),
      )

      /** Reads all pages of a sorted list by their places. */
      const walk = async (sort: string, ask: (place: string) => ReturnType<Person['call']>) => {
        const all: Listed[] = []
        for (let place = ''; ; ) {
          const { status, body, headers } = await ask(place)
          expect(status).toBe(200)
          all.push(...body.data)
          if (headers['next-place'] === undefined) return all
          place = String(headers['next-place'])
          expect(place.startsWith(`${sort}.`)).toBe(true)
        }
      }
      const byPlaces = (sort: string) =>
        walk(sort, (place) => owner.call('GET', `/v1/sites?sort=${sort}&per_page=50&place=${place}`))

      test.each(['name', '-name', 'created', '-created', 'php_version', '-php_version', 'disk', '-disk'])(
        'by %s: lists each site once, in the same order by places, by pages, and as a whole',
        async (sort) => {
          const whole: Listed[] = (await owner.call('GET', `/v1/sites?sort=${sort}`)).body.data
          expect(new Set(whole.map(({ id }) => id)).size).toBe(SITES)
          expect(await byPlaces(sort)).toEqual(whole)
          expect((await pages(`&sort=${sort}`)).all).toEqual(whole)
          const found = await walk(sort, (place) =>
            owner.call('POST', '/v1/sites/search', {
              ...{ filters: [{ key: 'name', value: 'site' }], sort, per_page: 50, place },
            }),
          )
          expect(found.map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
        },
      )

      test('by value, then ID for equal values, without favorites first', async () => {
        const idsBy = async (sort: string) => (await byPlaces(sort)).map(({ id }) => id)
        const names = (await byPlaces('name')).map(({ name }) => name)
        expect(names).toEqual(names.toSorted())
        expect((await byPlaces('-name')).map(({ name }) => name)).toEqual(names.toReversed())
        expect(await idsBy('-created')).toEqual(Array.from({ length: SITES }, (_, at) => SITES - at))
        expect((await idsBy('php_version')).slice(0, 4)).toEqual([7, 90, 200, 1])
        expect((await idsBy('-php_version')).slice(-3)).toEqual([200, 90, 7])
        expect((await idsBy('-disk')).slice(0, 4)).toEqual([100, 9, 7, 250])
        expect((await idsBy('disk')).slice(-3)).toEqual([7, 9, 100])
      })

      test('for accounts that get access to a site later as well', async () => {
        const later = await api.person('later@example.com')
        await api.database.transaction(async (tx) => {
          for (const id of [1, 7, 100]) await grantAccess(tx, later.accountId, { id })
        })
        const ids = async (sort: string) =>
          (await later.call('GET', `/v1/sites?sort=${sort}`)).body.data.map(({ id }: Listed) => id)
        expect([await ids('-disk'), await ids('php_version')]).toEqual([
          [100, 7, 1],
          [7, 1, 100],
        ])
      })

      test.each(['0.site-7', '-name.site-7.7', 'name.site-7', 'name.Site.7', 'disk.site-7.7', 'x'])(
        'refuses %s, which is not a place in the order',
        async (place) => {
          const sort = place.startsWith('disk') ? 'disk' : 'name'
          const { status, body } = await owner.call('GET', `/v1/sites?sort=${sort}&place=${place}`)
          expect([status, body.errors[0]]).toEqual([
            400,
            'place: must be a value of the header `Next-Place` of the same order',
          ])
        },
      )

      test('refuses a place of the usual order, an unknown order, and both orders', async () => {
        for (const query of ['place=name.site-7.7', 'sort=visits', 'sort=name&after=0'])
          expect((await owner.call('GET', `/v1/sites?${query}`)).status).toBe(400)
      })
    })

    test('a change during reading keeps the order, and leaves out what is gone', async () => {
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
