import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import type { Role } from '../../access/roles.ts'
import { changeSite } from '../../sites/site.store.ts'
import { restoredIn } from './restore.fixture.ts'

describe.each(dialects)('whether an operation can be undone ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('not one without a site', () => {})
  let api: TestApi
  let owner: Person
  let mate: Person
  const clock = Date.parse('2026-05-06T03:00:00Z')
  let number = 0
  beforeAll(async () => {
    api = await testApi(dialect, { now: () => clock })
    owner = await api.person('owner@example.com')
    mate = await api.person('mate@example.com')
  })
  afterAll(() => api?.close())

  const newSite = () => api.site(owner, `undone-${++number}`)
  const restored = (siteId: number, how: Parameters<typeof restoredIn>[2] = {}) =>
    restoredIn(api, { siteId, accountId: owner.accountId }, how)
  interface Shown {
    readonly id: number
    readonly actions: { action: string; allowed: boolean; reason: string | null }[]
  }
  /** Returns `undo` of an operation, which the list and the operation itself show alike. */
  async function undoOf(who: Person, siteId: number, id: number) {
    const { body } = await who.call('GET', `/v1/operations?site_id=${siteId}`)
    const listed = body.data.find((each: Shown) => each.id === id) as Shown
    const one = (await who.call('GET', `/v1/operations/${id}`)).body.data as Shown
    expect(one.actions).toEqual(listed.actions)
    return listed.actions.find(({ action }) => action === 'undo')
  }
  const undo = async (who: Person, id: number) => (await who.call('POST', `/v1/operations/${id}/undo`)).status

  test('a restore with an undo point, until it is undone', async () => {
    const site = await newSite()
    const id = await restored(site)
    expect(await undoOf(owner, site, id)).toEqual({ action: 'undo', allowed: true, reason: null })
    expect(await undo(owner, id)).toBe(200)
    expect(await undoOf(owner, site, id)).toBeUndefined()
    expect(await undo(owner, id)).toBe(400)
  })

  test.each([
    ['that has failed', { state: 'failed' }],
    ['that goes on', { state: 'running' }],
    ['that has kept nothing', { kept: false }],
    ['of which a half is gone', { more: { filesId: 1 } }],
  ] as const)('not one that %s', async (_, how) => {
    const site = await newSite()
    const id = await restored(site, how)
    expect(await undoOf(owner, site, id)).toBeUndefined()
    expect(await undo(owner, id)).toBe(400)
  })

  test('not the move to another host, which changed no content', async () => {
    const site = await newSite()
    const id = await restored(site)
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ type: 'site.relocate' }).where('id', '=', id).execute(),
    )
    expect(await undoOf(owner, site, id)).toBeUndefined()
    const { status, body } = await owner.call('POST', `/v1/operations/${id}/undo`)
    expect([status, body.message]).toEqual([400, expect.stringContaining('it did not change the content')])
  })

  test('not one of a site that is being created, and not one whose undo point may be removed', async () => {
    const site = await newSite()
    const id = await restored(site)
    await api.database.transaction((tx) => changeSite(tx, site, { state: 'cloning' }, 1))
    expect(await undoOf(owner, site, id)).toBeUndefined()
    await api.database.transaction((tx) => changeSite(tx, site, { state: 'live' }, 1))
    expect(await undoOf(owner, site, id)).toMatchObject({ allowed: true })
    await api.database.transaction((tx) =>
      tx.updateTable('backups').set({ delete_at: clock }).where('operation_id', '=', id).execute(),
    )
    expect(await undoOf(owner, site, id)).toBeUndefined()
    expect(await undo(owner, id)).toBe(400)
  })

  test('answers 400 for an operation without a site', async () => {
    const reply = await owner.call('POST', '/v1/collaborators/batch_create', {
      email: 'many@example.com',
      siteIds: [await newSite()],
    })
    const undone = await owner.call('POST', `/v1/operations/${reply.headers['operation-id']}/undo`)
    expect([undone.status, undone.body.code]).toEqual([400, 'operation_not_undoable'])
    expect(undone.body.errors[0] ?? undone.body.message).toContain('it does not belong to a site')
  })

  test('needs the collaborator’s role that the undo itself needs', async () => {
    const site = await newSite()
    const id = await restored(site)
    const by = async (roles: readonly Role[]) => {
      await api.collaborate(mate, site, roles)
      return undoOf(mate, site, id)
    }
    const reason = 'You need the role restore_site on this site for this operation.'
    expect(await by(['download_backups'])).toEqual({ action: 'undo', allowed: false, reason })
    expect(await undo(mate, id)).toBe(403)
    expect(await by(['restore_site'])).toEqual({ action: 'undo', allowed: true, reason: null })
    expect(await undo(mate, id)).toBe(200)
  })
})
