import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { listSoon, lookedAt, sitesDue, storePlugins } from './plugin.store.ts'

const plugin = { description: '', status: 'active', update: 'available', updateVersion: '2.0' } as const

describe.each(dialects)('listing plugins of all sites on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const site = async (name: string) => {
    const id = await api.site(owner, name)
    await api.database.transaction(async (tx) => {
      const host = { name: `of-${name}`, address: '', datacenters: '', max_sites: 1, facts: '{}', seen_at: 1 }
      const { id: hostId } = await tx.insertInto('hosts').values(host).returning('id').executeTakeFirstOrThrow()
      await tx.updateTable('sites').set({ host_id: hostId }).where('id', '=', id).execute()
    })
    return id
  }
  const run = (work: Parameters<TestApi['database']['transaction']>[0]) => api.database.transaction(work)
  const due = async (now: number, limit = 10) => (await sitesDue(api.database.read, now, limit)).map(({ id }) => id)

  test('sites that changed come first, and each comes again after a day', async () => {
    const [first, second, third] = [await site('first'), await site('second'), await site('third')]
    await run((tx) => storePlugins(tx, third, { plugins: [], themes: [] }, 500))
    await run((tx) => storePlugins(tx, first, { plugins: [], themes: [] }, 1000))
    await run((tx) => listSoon(tx, second))
    expect(await due(DAY_MS)).toEqual([second])
    expect(await due(1000 + DAY_MS)).toEqual([second, third, first])
    expect(await due(1000 + DAY_MS, 1)).toEqual([second])
    await run((tx) => lookedAt(tx, second, 2000))
    expect(await due(1999 + DAY_MS)).toEqual([third, first])
    await run((tx) => listSoon(tx, first))
    expect(await due(DAY_MS)).toEqual([first])
  })

  test('a change that WordPress reports during a listing is listed again', async () => {
    const id = await site('changing')
    await run((tx) => lookedAt(tx, id, 1000))
    await run((tx) => listSoon(tx, id))
    await run((tx) => lookedAt(tx, id, 1000))
    await run((tx) => listSoon(tx, id))
    // What was listed before the change.
    await run((tx) => storePlugins(tx, id, { plugins: [], themes: [] }, 2000))
    expect(await due(2000)).toEqual([id])
    await run((tx) => lookedAt(tx, id, 3000))
    await run((tx) => storePlugins(tx, id, { plugins: [], themes: [] }, 4000))
    expect(await due(3999 + DAY_MS)).toEqual([])
    expect(await due(4000 + DAY_MS)).toEqual([id])
  })

  test('sites that cannot be listed now wait, and keep nobody waiting', async () => {
    const ids: number[] = []
    for (const name of ['closed', 'disabled', 'deleted', 'of-no-host', 'reachable']) ids.push(await site(name))
    const [closed, disabled, deleted, homeless, reachable] = ids as [number, number, number, number, number]
    for (const id of ids) await run((tx) => listSoon(tx, id))
    const set = (id: number, change: object) =>
      run((tx) => tx.updateTable('sites').set(change).where('id', '=', id).execute())
    await set(closed, { closed_by: 1 })
    await set(disabled, { state: 'disabled' })
    await set(deleted, { deleted_at: 1 })
    await set(homeless, { host_id: null })
    expect(await due(1, 1)).toEqual([reachable])
    await set(closed, { closed_by: null })
    expect(await due(1)).toEqual([closed, reachable])
  })

  test('what a site reports is stored without control characters, and without must-use plugins', async () => {
    const id = await site('odd')
    const plugins = [
      { ...plugin, name: 'forms\u0000', file: 'a/a.php', title: 'A\u0000', version: '1\n.0\ud800' },
      { ...plugin, name: '\u0001', file: 'b/b.php', title: '', version: '' },
      { ...plugin, name: 'base', file: 'base.php', title: '', version: '1', status: 'must-use' as const },
      { ...plugin, name: 'db.php', file: 'db.php', title: '', version: '1', status: 'dropin' as const },
    ]
    const theme = { name: 'child', title: 'Child', version: '1', isActive: false, updateVersion: null }
    const listed = { plugins, themes: [{ ...theme, isAutomatic: true }] }
    for (let times = 0; times < 2; times++) await run((tx) => storePlugins(tx, id, listed, 1))
    const { data } = (await owner.call('GET', '/v1/plugins')).body
    expect(data).toMatchObject([
      { slug: 'forms', name: 'A', active: 1, update_due: 1, versions: [{ version: '1.0\ufffd', sites: 1 }] },
    ])
    expect((await owner.call('GET', '/v1/themes')).body.data).toMatchObject([
      { slug: 'child', active: 0, update_due: 0, automatic_updates: 1 },
    ])
  })
})
