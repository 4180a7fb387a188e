import { expect, test } from 'vitest'
import { testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'

test.each(dialects.filter(({ skip }) => !skip))(
  'lists continue after an entry, even when others are added and removed: $dialect',
  async ({ dialect }) => {
    const api = await testApi(dialect)
    try {
      const owner = await api.person('owner@example.com')
      const ids: number[] = []
      for (const name of ['delta', 'alpha', 'charlie', 'bravo', 'echo']) ids.push(await api.site(owner, name))
      const ask = async (path: string, body?: object) => {
        const { status, body: answer, headers } = await owner.call(body ? 'POST' : 'GET', path, body)
        expect(status).toBe(200)
        const found = (answer.data as { id: number }[]).map(({ id }) => id)
        return { found, next: headers['next-after'], page: answer.page }
      }
      // In order of id, even if there are favorites.
      await owner.call('POST', `/v1/sites/${ids[3]}/favorites`)
      expect(await ask('/v1/sites?after=0&per_page=2')).toEqual({
        found: ids.slice(0, 2),
        next: `${ids[1]}`,
        page: undefined,
      })
      expect((await ask(`/v1/sites?after=${ids[1]}&per_page=2`)).found).toEqual(ids.slice(2, 4))
      expect(await ask(`/v1/sites?after=${ids[3]}&per_page=2`)).toEqual({
        found: ids.slice(4),
        next: undefined,
        page: undefined,
      })
      const filters = [{ key: 'name', value: 'a' }]
      // Alpha, bravo, charlie, delta.
      const first = await ask('/v1/sites/search', { filters, after: 0, per_page: 3 })
      expect(first).toEqual({ found: ids.slice(0, 3), next: `${ids[2]}`, page: undefined })
      expect((await ask('/v1/sites/search', { filters, after: ids[2], per_page: 3 })).found).toEqual([ids[3]])

      // In the order of the list, favorites first, even when others are added and removed.
      const ordered = async (path: string, body?: object) => {
        const { status, body: answer, headers } = await owner.call(body ? 'POST' : 'GET', path, body)
        expect(status).toBe(200)
        expect(answer.page).toBeUndefined()
        return [(answer.data as { name: string }[]).map(({ name }) => name), headers['next-place']]
      }
      expect(await ordered('/v1/sites?place=&per_page=2')).toEqual([['bravo', 'alpha'], '1.alpha'])
      for (const name of ['aaron', 'baker']) await api.site(owner, name)
      expect(await ordered('/v1/sites?place=1.alpha&per_page=2')).toEqual([['baker', 'charlie'], '1.charlie'])
      await owner.call('POST', `/v1/sites/${ids[2]}/favorites`)
      expect(await ordered('/v1/sites?place=1.charlie&per_page=2')).toEqual([['delta', 'echo'], '1.echo'])
      await owner.call('DELETE', `/v1/sites/${ids[2]}/favorites`)
      expect(await ordered('/v1/sites?place=1.echo&per_page=2')).toEqual([[], undefined])
      expect(await ordered('/v1/sites/search', { filters, place: '0.bravo', per_page: 4 })).toEqual([
        ['aaron', 'alpha', 'baker', 'charlie'],
        '1.charlie',
      ])
      expect(await ordered('/v1/sites/search', { filters, place: '1.charlie', per_page: 4 })).toEqual([
        ['delta'],
        undefined,
      ])
      for (const wrong of ['place=2.alpha', 'place=alpha', 'place=1.a%27', 'place=&after=0'])
        expect((await owner.call('GET', `/v1/sites?${wrong}`)).status, wrong).toBe(400)

      // With the newest first, ids decrease.
      for (const subject of ['one', 'two', 'three'])
        expect((await owner.call('POST', `/v1/sites/${ids[0]}/notes`, { subject, body: 'text' })).status).toBe(200)
      const newest = await ask(`/v1/sites/${ids[0]}/notes?after=0&per_page=2`)
      const [third = 0, second = 0] = newest.found
      expect([third > second, newest.next]).toEqual([true, `${second}`])
      const rest = await ask(`/v1/sites/${ids[0]}/notes?after=${second}&per_page=2`)
      expect([rest.found.length, (rest.found[0] as number) < second, rest.next]).toEqual([1, true, undefined])
      const log = await ask('/v1/account/logs/activity', { after: 0, per_page: 2 })
      expect([(log.found[0] as number) > (log.found[1] as number), log.next]).toEqual([true, `${log.found[1]}`])
      for (const path of ['/v1/operations', '/v1/webhooks', '/v1/mu-plugins'])
        expect((await ask(`${path}?after=0`)).page).toBeUndefined()
      expect((await ask('/v1/webhooks')).page).toMatchObject({ currentPage: 1 })
    } finally {
      await api.close()
    }
  },
)
