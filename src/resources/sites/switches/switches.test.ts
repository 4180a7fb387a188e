import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { siteDraft } from '../../../../test/support/site-draft.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import { hostedSite } from '../../../hosting/host.store.ts'
import { copiedFlags, type FlagName, flagsOfRow, siteFlags } from '../../../site-flags.ts'
import { findSite, insertSite } from '../site.store.ts'
import type { Site } from '../site.ts'
import { switchSetting } from './switches.store.ts'

const names = Object.keys(siteFlags) as FlagName[]
const onlyFlags = (from: object | undefined) =>
  Object.fromEntries(names.flatMap((name) => (from && name in from ? [[name, from[name as keyof typeof from]]] : [])))

describe.each(dialects)('switches of a site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let siteId: number
  let hostId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    siteId = await api.site(await api.person('owner@example.com'), 'switched')
    await api.home(siteId)
    hostId = ((await findSite(api.database.read, siteId)) as Site).hostId as number
    await api.database.transaction(async (tx) => {
      await tx.insertInto('routes').values({ host_name: 'switched.test', site_id: siteId, changed_at: 1 }).execute()
      await tx.updateTable('sites').set({ written_address: 'switched.test' }).where('id', '=', siteId).execute()
    })
  })
  afterEach(() => api?.close())

  test.each(names)('%s: the site has it, and the role that acts on it learns of it', async (name) => {
    const { column, readBy } = siteFlags[name]
    for (const enabled of [true, false]) {
      await api.database.transaction((tx) => switchSetting(tx, siteId, column, enabled, 1))
      const { read } = api.database
      const route = onlyFlags(await loadRoute(read, 'switched.test'))
      const hosted = flagsOfRow((await hostedSite(read, hostId, siteId)) as NonNullable<unknown>)
      expect((await findSite(read, siteId))?.[name]).toBe(enabled)
      expect((readBy === 'edge' ? route : hosted) as object).toMatchObject({ [name]: enabled })
      expect(readBy === 'edge' ? hosted : route).not.toHaveProperty(name)
    }
  })

  test('a toggle depends on the site alone, whatever others have', async () => {
    const { accountId } = (await findSite(api.database.read, siteId)) as Site
    const all = Object.fromEntries(names.map((name) => [name, true])) as Record<FlagName, true>
    const { column } = siteFlags.hasLight404
    const toggle = (id: number) =>
      api.database.transaction((tx) => switchSetting(tx, id, column, undefined, 1)).then(({ enabled }) => enabled)
    const other = await api.database.transaction((tx) =>
      insertSite(tx, siteDraft('other', { accountId, hostId, flags: copiedFlags(all) }), 1),
    )
    expect([await toggle(siteId), await toggle(other.id), await toggle(other.id)]).toEqual([true, false, true])
    expect((await findSite(api.database.read, siteId))?.hasLight404).toBe(true)
  })

  test('a new site caches unless it is for staging, and a clone keeps two of them', async () => {
    const { accountId } = (await findSite(api.database.read, siteId)) as Site
    const made = (name: string, more: object) =>
      api.database.transaction((tx) => insertSite(tx, siteDraft(name, { accountId, hostId, ...more }), 1))
    const off = Object.fromEntries(names.map((name) => [name, false]))
    const caches = { hasEdgeCache: true, hasCdn: true }
    const all = Object.fromEntries(names.map((name) => [name, true])) as Record<FlagName, true>
    expect(onlyFlags(await made('live', {}))).toEqual({ ...off, ...caches })
    expect(onlyFlags(await made('staging', { isStaging: true }))).toEqual(off)
    const copied = { hasMultisite: true, hasLight404: true }
    expect(onlyFlags(await made('copy', { flags: copiedFlags(all) }))).toEqual({ ...off, ...caches, ...copied })
  })
})
