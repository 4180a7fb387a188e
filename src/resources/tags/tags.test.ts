import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import type { Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { type VisibleSite, visibleSite } from '../sites/show/visible-site.store.ts'
import { markDeleted } from '../sites/site.store.ts'
import { arrangeNewTags } from './arrange.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`tags and favourites on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let helper: Person
    let stranger: Person
    let first: number
    let second: number
    let collaboration: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      helper = await api.person('help+er/one@example.com')
      stranger = await api.person('stranger@example.com')
      first = await api.site(owner, 'alpha-site')
      second = await api.site(owner, 'beta-site')
      const added = await owner.call('POST', `/v1/sites/${second}/collaborators`, { email: helper.email, roles: [] })
      expect(added.status).toBe(200)
      collaboration = added.body.data.id
    })
    afterAll(() => api.close())

    const names = (site: { tags: { name: string }[] }) => site.tags.map(({ name }) => name)

    test('200: favourites come first in lists, only for the account', async () => {
      expect((await owner.call('POST', `/v1/sites/${second}/favorites`)).body).toEqual({
        message: 'Success',
        data: null,
        errors: null,
      })
      const list = (await owner.call('GET', '/v1/sites')).body.data
      expect(list.map(({ name, favorite }: { name: string; favorite: boolean }) => [name, favorite])).toEqual([
        ['beta-site', true],
        ['alpha-site', false],
      ])
      expect((await helper.call('GET', '/v1/sites')).body.data).toMatchObject([{ name: 'beta-site', favorite: false }])
      await owner.call('DELETE', `/v1/sites/${second}/favorites`)
      expect((await owner.call('GET', `/v1/sites/${second}`)).body.data.favorite).toBe(false)
    })

    test('404, without leaving a tag, when the site is deleted between read and change', async () => {
      const id = await api.site(owner, 'short-lived')
      const site = (await visibleSite(api.database.read, owner.accountId, id)) as VisibleSite
      const change = api.database.transaction(async (tx) => {
        await markDeleted(tx, id, Date.now())
        await arrangeNewTags({ tx } as Context & Recording, owner.accountId, site, ['late'])
      })
      await expect(change).rejects.toMatchObject({ code: 'not_found' })
      const late = api.database.read.selectFrom('tags').select('id').where('name', '=', 'late')
      expect(await late.execute()).toEqual([])
      await owner.call('DELETE', `/v1/sites/${id}`)
    })

    test('200: adds tags once, filters lists by them, and deletes those without a site', async () => {
      const tagged = await owner.call('POST', `/v1/sites/${first}/tags`, { tag_names: ['shop', ' client a ', 'shop'] })
      expect(names(tagged.body.data)).toEqual(['shop', 'client a'])
      await owner.call('POST', `/v1/sites/${second}/tags`, { tag_names: ['shop'] })
      const filtered = await owner.call('GET', '/v1/sites?tag_name=client%20a&paginate=1')
      expect(filtered.body).toMatchObject({ data: [{ id: first }], page: { totalItems: 1 } })
      const [shop] = tagged.body.data.tags
      const less = await owner.call('DELETE', `/v1/sites/${first}/tags`, { tag_ids: [String(shop.id), 999] })
      expect(names(less.body.data)).toEqual(['client a'])
      expect((await owner.call('GET', `/v1/sites/${second}`)).body.data.tags).toEqual([shop])
      await owner.call('DELETE', `/v1/sites/${second}/tags`, { tag_ids: [shop.id] })
      const rows = await api.database.read.selectFrom('tags').select('name').execute()
      expect(rows).toEqual([{ name: 'client a' }])
    })

    test('200: does not remove a tag of another account', async () => {
      const tagged = await helper.call('POST', `/v1/sites/${second}/tags`, { tag_names: ['mine'] })
      const id = tagged.body.data.tags[0].id
      await owner.call('DELETE', `/v1/sites/${second}/tags`, { tag_ids: [id] })
      expect(names((await helper.call('GET', `/v1/sites/${second}`)).body.data)).toEqual(['mine'])
      expect(names((await owner.call('GET', `/v1/sites/${second}`)).body.data)).toEqual([])
    })

    test('400: no tags, blank tags, tags of the wrong kind', async () => {
      const refuse = async (body: unknown, fault: string) => {
        const { status, body: answer } = await owner.call('POST', `/v1/sites/${first}/tags`, body)
        expect([status, answer.errors]).toEqual([400, [fault]])
      }
      await refuse({}, 'tag_names: is required')
      await refuse({ tag_names: ['  '] }, 'tag_names[0]: must not be blank')
      await refuse({ tag_names: [7] }, 'tag_names[0]: must be a string')
    })

    test('200: concurrent additions and removals log exactly what each changed', async () => {
      const { id } = (await owner.call('GET', `/v1/sites/${first}`)).body.data
      const entries = async () =>
        (await owner.call('POST', `/v1/sites/${id}/logs/activity`, {})).body.data.map(
          ({ message }: { message: string }) => message,
        )
      const wanted = ['one', 'two', 'three', 'four', 'five', 'six']
      const added = await Promise.all(
        wanted.map((name) => owner.call('POST', `/v1/sites/${first}/tags`, { tag_names: [name] })),
      )
      expect(added.map(({ status }) => status)).toEqual(wanted.map(() => 200))
      const said = (await entries()).filter((message: string) => message.startsWith('Added '))
      for (const name of wanted)
        expect(said.filter((message: string) => message.startsWith(`Added ${name} to `))).toHaveLength(1)
      const site = (await owner.call('GET', `/v1/sites/${first}`)).body.data
      const ids = site.tags
        .filter(({ name }: { name: string }) => wanted.includes(name))
        .map((tag: { id: number }) => tag.id)
      expect(ids).toHaveLength(wanted.length)
      await Promise.all([1, 2, 3].map(() => owner.call('DELETE', `/v1/sites/${first}/tags`, { tag_ids: ids })))
      expect((await entries()).filter((message: string) => /^Removed .*\bone\b/.test(message))).toHaveLength(1)
    })

    test('200: an empty list of tags changes nothing', async () => {
      const before = (await owner.call('GET', `/v1/sites/${first}`)).body.data
      const added = await owner.call('POST', `/v1/sites/${first}/tags`, { tag_names: [] })
      const removed = await owner.call('DELETE', `/v1/sites/${first}/tags`, { tag_ids: [] })
      expect([added.status, names(added.body.data)]).toEqual([200, names(before)])
      expect([removed.status, names(removed.body.data)]).toEqual([200, names(before)])
    })

    test('200: removing a person from a site removes their tags there, and deletes those without another site', async () => {
      const own = await api.site(stranger, 'own-site')
      const { id } = (await owner.call('POST', `/v1/sites/${first}/collaborators`, { email: stranger.email })).body.data
      await stranger.call('POST', `/v1/sites/${own}/tags`, { tag_names: ['on both'] })
      await stranger.call('POST', `/v1/sites/${first}/tags`, { tag_names: ['on both', 'there alone'] })
      await owner.call('POST', `/v1/sites/${first}/tags`, { tag_names: ['of the owner'] })
      expect((await owner.call('DELETE', `/v1/sites/${first}/collaborators/${id}`)).status).toBe(200)
      const left = api.database.read.selectFrom('tags').select('name').where('account_id', '=', stranger.accountId)
      expect(await left.execute()).toEqual([{ name: 'on both' }])
      expect(names((await owner.call('GET', `/v1/sites/${first}`)).body.data)).toContain('of the owner')
      const again = await owner.call('POST', `/v1/sites/${first}/collaborators`, { email: stranger.email })
      expect(names((await stranger.call('GET', `/v1/sites/${first}`)).body.data)).toEqual([])
      await owner.call('DELETE', `/v1/sites/${first}/collaborators/${again.body.data.id}`)
      await api.database.transaction((tx) => markDeleted(tx, own, 1))
    })

    test('200: an empty tag_name does not filter', async () => {
      const all = (await owner.call('GET', '/v1/sites')).body.data
      expect((await owner.call('GET', '/v1/sites?tag_name=')).body.data).toHaveLength(all.length)
      const address = encodeURIComponent(helper.email)
      const seen = (await owner.call('GET', `/v1/collaborators/${address}/sites`)).body.data.sites
      expect((await owner.call('GET', `/v1/collaborators/${address}/sites?tag_name=`)).body.data.sites).toEqual(seen)
    })

    test('200: the site of a collaboration has ipAddresses, and naming no tags removes all', async () => {
      const path = `/v1/collaborators/${collaboration}/site`
      const read = (await owner.call('GET', path)).body.data
      expect(read).toMatchObject({ id: second, ipAddresses: [expect.any(String)] })
      expect(read).not.toHaveProperty('ipAddress')
      const tagged = (await owner.call('POST', `${path}/tags`, { tag_names: ['kept'] })).body.data
      expect(tagged.ipAddresses).toEqual(read.ipAddresses)
      expect(names(tagged)).toContain('kept')
      for (const body of [undefined, {}, { tag_ids: [] }]) {
        const after = await owner.call('DELETE', `${path}/tags`, body)
        expect([after.status, names(after.body.data), after.body.data.ipAddresses]).toEqual([
          200,
          names(tagged),
          read.ipAddresses,
        ])
      }
      await owner.call('DELETE', `${path}/tags`, { tag_ids: tagged.tags.map(({ id }: { id: number }) => id) })
    })

    test('200: the owner arranges a collaborator’s view by ID and by address', async () => {
      const byId = await owner.call('POST', `/v1/collaborators/${collaboration}/site/tags`, { tag_names: ['theirs'] })
      expect(names(byId.body.data)).toContain('theirs')
      expect((await owner.call('GET', `/v1/collaborators/${collaboration}/site`)).body.data).toMatchObject({
        id: second,
      })
      const address = encodeURIComponent(helper.email)
      const favorite = await owner.call('POST', `/v1/collaborators/${address}/sites/${second}/favorite`)
      expect(favorite.body.data).toMatchObject({ email: helper.email, sites: [{ id: second, favorite: true }] })
      const tagged = await owner.call('POST', `/v1/collaborators/${address}/sites/${second}/tag`, { tag_names: ['x'] })
      expect(names(tagged.body.data.sites[0])).toContain('x')
      const list = await owner.call('GET', `/v1/collaborators/${address}/sites?tag_name=x`)
      expect(list.body).toMatchObject({ data: { sites: [{ id: second }] }, page: { totalItems: 1, perPage: 20 } })
      expect(list.body.data.sites[0].ipAddresses).toBeInstanceOf(Array)
      const one = await helper.call('GET', `/v1/collaborators/${address}/sites/${second}`)
      expect(one.body.data.sites).toHaveLength(1)
      const ids = tagged.body.data.sites[0].tags.map(({ id }: { id: number }) => id)
      const bare = await helper.call('DELETE', `/v1/collaborators/${address}/sites/${second}/tag`, { tag_ids: ids })
      expect(bare.body.data.sites[0].tags).toEqual([])
      const after = await owner.call('DELETE', `/v1/collaborators/${address}/sites/${second}/favorite`)
      expect(after.body.data.sites[0].favorite).toBe(false)
    })

    test('404: the view of an account that shares no site with the caller, and sites outside the view', async () => {
      const address = encodeURIComponent(helper.email)
      for (const [who, path] of [
        [stranger, `/v1/collaborators/${address}/sites`],
        [stranger, `/v1/collaborators/${address}/sites/${second}`],
        [stranger, `/v1/collaborators/${collaboration}/site`],
        [owner, '/v1/collaborators/nobody%40example.com/sites'],
        [owner, `/v1/collaborators/${address}/sites/${first}`],
        [helper, `/v1/collaborators/${encodeURIComponent(owner.email)}/sites`],
      ] as const)
        expect([path, (await who.call('GET', path)).status]).toEqual([path, 404])
    })

    test('each change leaves one entry in the log of the site, and a call without a change none', async () => {
      const count = async () =>
        (await api.database.read.selectFrom('activity').select('id').where('site_id', '=', first).execute()).length
      const before = await count()
      await owner.call('POST', `/v1/sites/${first}/favorites`)
      await owner.call('POST', `/v1/sites/${first}/favorites`)
      expect((await count()) - before).toBe(1)
    })
  })
}
