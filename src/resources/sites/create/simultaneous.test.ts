import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { holding, whileUnderWay } from '../../../../test/support/overlap.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { addTags, deleteTagsOfSite, setFavorite } from '../../tags/tag.store.ts'
import { restoreFromTrash } from '../remove/trash.ts'
import { markDeleted } from '../site.store.ts'

describe.each(dialects)('simultaneous changes of one site, on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let site: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'wanted-site')
  })
  afterEach(() => api?.close())

  const events = async () =>
    (await api.database.read.selectFrom('events').select('type').orderBy('id').execute()).map(({ type }) => type)
  const statusOf = (method: string, rest: string, body?: unknown) => async () =>
    (await owner.call(method, `/v1/sites/${site}${rest}`, body)).status

  test('two deletions delete it once, and one is told that the site is gone', async () => {
    const { read } = api.database
    const statuses = await whileUnderWay(api.database, holding(site), [statusOf('DELETE', ''), statusOf('DELETE', '')])
    expect(statuses.sort()).toEqual([200, 404])
    expect(await events()).toEqual(['site_deleted'])
    const removals = await read.selectFrom('operations').select('type').where('site_id', '=', site).execute()
    expect(removals).toEqual([{ type: 'site.remove' }])
  })

  test('two requests to disable it: one is refused, and the other is reported once', async () => {
    const disable = statusOf('PUT', '/disable')
    expect((await whileUnderWay(api.database, holding(site), [disable, disable])).sort()).toEqual([200, 400])
    expect(await events()).toEqual(['site_disabled'])
  })

  test('nothing of a site changes while its deletion commits', async () => {
    const deletion = (tx: Parameters<typeof markDeleted>[0]) => markDeleted(tx, site, 1)
    const statuses = await whileUnderWay(api.database, deletion, [
      statusOf('PUT', '', { name: 'Another' }),
      statusOf('PUT', '/edge-cache'),
      statusOf('POST', '/notes', { subject: 'a', body: 'b' }),
    ])
    expect(statuses).toEqual([404, 404, 404])
    expect(await api.database.read.selectFrom('activity').select('id').execute()).toEqual([])
  })

  test('two recoveries from the trash: only one finds it there, and it is counted and reported once', async () => {
    const { read, transaction } = api.database
    await api.home(site)
    await transaction((tx) => markDeleted(tx, site, 1))
    const restore = () =>
      transaction((tx) => restoreFromTrash(tx, 'wanted-site', { config: api.config, now: 2 })).then(
        (found) => found?.name ?? 'none',
      )
    const outcomes = await whileUnderWay(api.database, holding(site), [restore, restore])
    expect(outcomes.sort()).toEqual(['none', 'wanted-site'])
    const told = read.selectFrom('activity').select('id').where('action', '=', 'site.undeleted')
    expect(await told.execute()).toHaveLength(1)
  })

  test('a tag that an account adds to a site while it is removed goes with the others', async () => {
    const tagging = (tx: Parameters<typeof addTags>[0]) => addTags(tx, owner.accountId, site, ['late'])
    const leaving = () => api.database.transaction((tx) => deleteTagsOfSite(tx, site, owner.accountId))
    await whileUnderWay(api.database, tagging, [leaving])
    expect(await api.database.read.selectFrom('tags').select('name').execute()).toEqual([])
  })

  test('a tag that a site gets while it becomes a favorite is sorted at its new place, and the other way round', async () => {
    const placeOf = async (name: string) => {
      const { read } = api.database
      const tag = read.selectFrom('tags').innerJoin('site_tags', 'site_tags.tag_id', 'tags.id').select('rank')
      return (await tag.where('name', '=', name).executeTakeFirstOrThrow()).rank
    }
    const { transaction } = api.database
    const favoring = (favorite: boolean) => (tx: Tx) => setFavorite(tx, owner.accountId, site, favorite)
    const tagging = (name: string) => (tx: Tx) => addTags(tx, owner.accountId, site, [name])
    await whileUnderWay<unknown>(api.database, favoring(true), [() => transaction(tagging('late'))])
    expect(await placeOf('late')).toBe(0)
    await whileUnderWay<unknown>(api.database, tagging('early'), [() => transaction(favoring(false))])
    expect([await placeOf('late'), await placeOf('early')]).toEqual([1, 1])
    await transaction(favoring(true))
    expect([await placeOf('late'), await placeOf('early')]).toEqual([0, 0])
  })

  test.runIf(dialect === 'postgres')(
    'a caller who cannot see the site does not wait for those who change it',
    async () => {
      const stranger = await api.person('stranger@example.com')
      const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const underWay = api.database.transaction(async (tx) => {
        await holding(site)(tx)
        begun.resolve()
        await answered.promise
      })
      await Promise.race([begun.promise, underWay])
      try {
        expect((await stranger.call('PUT', `/v1/sites/${site}`, { name: 'Mine' })).status).toBe(404)
      } finally {
        answered.resolve()
        await underWay
      }
    },
  )

  test('a tag that a site gets while another one with it is purged stays', async () => {
    const other = await api.site(owner, 'other-site')
    await api.database.transaction((tx) => addTags(tx, owner.accountId, site, ['shared']))
    const tagging = (tx: Parameters<typeof addTags>[0]) => addTags(tx, owner.accountId, other, ['shared'])
    await whileUnderWay(api.database, tagging, [() => api.database.transaction((tx) => deleteTagsOfSite(tx, site))])
    const { tags } = (await owner.call('GET', `/v1/sites/${other}`)).body.data
    expect(tags.map(({ name }: { name: string }) => name)).toEqual(['shared'])
  })
})
