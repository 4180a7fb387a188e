import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { withExtensions } from '../../inventory/inventory.fixture.ts'
import { putDomainRoute } from '../addresses/route.store.ts'
import { markDeleted } from '../site.store.ts'
import { restoreFromTrash } from './trash.ts'

describe.each(dialects)('the trash on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  /** Puts a site into the trash, as if its PHP had stopped. */
  const trash = async (siteId: number) => {
    await api.home(siteId)
    await api.database.transaction((tx) => markDeleted(tx, siteId, 1))
  }

  test('a recovered site has its primary domain, unless that is another site’s by now', async () => {
    const { read, transaction } = api.database
    const other = await api.site(owner, 'another')
    for (const [name, takenBy, primary] of [
      ['kept', undefined, 'kept.example.com'],
      ['lost', other, null],
    ] as const) {
      const id = await api.site(owner, name)
      const hostName = `${name}.example.com`
      await transaction(async (tx) => {
        await putDomainRoute(tx, id, hostName, 1)
        await tx.updateTable('sites').set({ primary_domain: hostName }).where('id', '=', id).execute()
      })
      await trash(id)
      if (takenBy) await transaction((tx) => putDomainRoute(tx, takenBy, hostName, 1))
      expect((await transaction((tx) => restoreFromTrash(tx, name, { config: api.config, now: 2 })))?.id).toBe(id)
      const row = read.selectFrom('sites').select('primary_domain').where('id', '=', id)
      expect(await row.executeTakeFirst()).toEqual({ primary_domain: primary })
    }
    // Only it has a primary domain.
    const kept = read.selectFrom('sites').select('name').where('primary_domain', 'is not', null)
    expect(await kept.execute()).toEqual([{ name: 'kept' }])
  })

  test('a recovered site is in the lists of its owner again, with its plugins', async () => {
    const names = async (path: string) =>
      (await owner.call('GET', path)).body.data.map(({ name }: { name: string }) => name)
    const lists = async () => [await names('/v1/sites'), await names('/v1/plugins')]
    const id = await api.site(owner, 'coming-back')
    await withExtensions(api, id, [{ slug: 'forms', title: 'Forms' }])
    await trash(id)
    expect(await lists()).toEqual([[], []])
    await api.database.transaction((tx) => restoreFromTrash(tx, 'coming-back', { config: api.config, now: 2 }))
    expect(await lists()).toEqual([['coming-back'], ['Forms']])
  })

  test('does not recover a site with a name that a setting has reserved since', async () => {
    const { transaction } = api.database
    const reserved = { ...api.config, apiName: 'portal.localhost', panelUrl: 'https://panel.hoster.test' }
    const restore = (name: string) => transaction((tx) => restoreFromTrash(tx, name, { config: reserved, now: 2 }))
    for (const [name, domain] of [
      ['portal', 'portal.example.com'],
      ['with-domain', 'panel.hoster.test'],
    ] as const) {
      const id = await api.site(owner, name)
      await transaction((tx) => putDomainRoute(tx, id, domain, 1))
      await trash(id)
      await expect(restore(name)).rejects.toMatchObject({ code: 'name_reserved' })
    }
  })

  test('does not recover a site under a name that another one has by now', async () => {
    const { read, transaction } = api.database
    const lost = await api.site(owner, 'wanted-site')
    await trash(lost)
    await api.site(owner, 'wanted-site')
    await expect(
      transaction((tx) => restoreFromTrash(tx, 'wanted-site', { config: api.config, now: 2 })),
    ).rejects.toMatchObject({
      code: 'name_taken',
    })
    expect(await read.selectFrom('activity').select('id').execute()).toEqual([])
  })

  test('does not recover a site whose files are being removed, nor another one in its place', async () => {
    const { transaction } = api.database
    const [gone, later] = [await api.site(owner, 'gone-site'), await api.site(owner, 'gone-later')]
    await trash(gone)
    await api.home(later)
    await transaction((tx) => markDeleted(tx, later, 2))
    const setState = (state: 'taken' | 'leaving') =>
      transaction((tx) => tx.updateTable('site_homes').set({ state }).where('site_id', '=', gone).execute())
    await setState('leaving')
    expect(await transaction((tx) => restoreFromTrash(tx, 'gone-site', { config: api.config, now: 2 }))).toBeUndefined()
    await setState('taken')
    expect((await transaction((tx) => restoreFromTrash(tx, 'gone-site', { config: api.config, now: 2 })))?.id).toBe(
      gone,
    )
  })
})
