import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { markDeleted } from '../sites/site.store.ts'
import { needsRights, stillAllowed } from './still-allowed.ts'

describe.each(dialects)('what an account may still do on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let friend: Person
  let shop: number
  let blog: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    friend = await api.person('friend@example.com')
    shop = await api.site(owner, 'shop')
    blog = await api.site(owner, 'blog')
    await api.collaborate(friend, shop, ['restore_site'])
  })
  afterEach(() => api?.close())

  const restoring = (who: Person, siteId: number) =>
    ({ accountId: who.accountId, siteId, capability: 'restore the site' }) as const
  const seeing = (who: Person, siteId: number) => ({ ...restoring(who, siteId), capability: 'read the site' }) as const

  test('allows the owner everything, a collaborator what its roles allow, and others nothing', async () => {
    const stranger = await api.person('stranger@example.com')
    const both = await api.person('both@example.com')
    for (const site of [shop, blog]) await api.collaborate(both, site, [])
    const claims = [
      ...[restoring(owner, shop), restoring(owner, blog), seeing(owner, shop)],
      ...[restoring(friend, shop), seeing(friend, shop), restoring(friend, blog), seeing(friend, blog)],
      ...[restoring(stranger, shop), seeing(stranger, shop)],
      ...[seeing(both, shop), seeing(both, blog), restoring(both, blog)],
      restoring(owner, 987_654),
    ]
    expect(await stillAllowed(api.database.read, claims)).toEqual([
      ...[true, true, true],
      ...[true, true, false, false],
      ...[false, false],
      ...[true, true, false],
      false,
    ])
    expect(await stillAllowed(api.database.read, [])).toEqual([])
  })

  test('a site in the trash keeps its collaborators', async () => {
    await api.database.transaction((tx) => markDeleted(tx, shop, Date.now()))
    expect(await stillAllowed(api.database.read, [restoring(owner, shop), restoring(friend, shop)])).toEqual([
      true,
      true,
    ])
  })

  test('the permission of a definition names the first right that is lost', async () => {
    const permission = needsRights((sites: readonly number[], { done }) =>
      done ? [] : sites.map((siteId) => ({ siteId, capability: 'restore the site' }) as const),
    )
    const ask = (input: readonly number[], results = {}) =>
      permission(api.database.read, { askedById: friend.accountId, input, results })
    expect(await ask([shop])).toBeUndefined()
    expect(await ask([shop, blog])).toBe(
      `The account that started this operation no longer has the role restore_site on site ${blog}. An account with access can retry the operation.`,
    )
    expect(await ask([blog], { done: true })).toBeUndefined()
  })
})
