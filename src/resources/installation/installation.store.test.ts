import { expect, test } from 'vitest'
import { testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { listHousing, sitesWithDirectories } from './installation.store.ts'

test.for(dialects)(
  'lists sites with a site directory with all that a restore needs ($dialect)',
  async ({ dialect, skip }, context) => {
    if (skip) return context.skip()
    const api = await testApi(dialect)
    context.onTestFinished(() => api.close())
    const owner = await api.person('owner@example.com')
    const housed = await api.site(owner, 'housed')
    await api.site(owner, 'homeless')
    const directory = { host_id: 1, core_version: '6.8', install: 'wordpress', created_at: 1 }
    await api.database.transaction((tx) =>
      tx
        .insertInto('site_homes')
        .values([
          { ...directory, state: 'taken', site_id: housed },
          { ...directory, state: 'prepared' },
        ])
        .execute(),
    )
    expect(await sitesWithDirectories(api.database.read)).toEqual([
      { siteId: housed, accountId: owner.accountId, hostId: 1, name: 'housed', coreVersion: '6.8' },
    ])
  },
)

test.for(dialects)(
  'a cordoned host is draining while its sites move, and drained without a directory of a site ($dialect)',
  async ({ dialect, skip }, context) => {
    if (skip) return context.skip()
    const api = await testApi(dialect)
    context.onTestFinished(() => api.close())
    const { database } = api
    const owner = await api.person('owner@example.com')
    const host = { address: '', datacenters: '', facts: '{}', max_sites: 9, seen_at: 0 }
    const idOf: Record<string, number> = {}
    for (const [name, state] of [
      ['empty', 'cordoned'],
      ['open', 'active'],
      ['leaving', 'cordoned'],
      ['trash', 'cordoned'],
    ] as const)
      await database.transaction(async (tx) => {
        const row = await tx
          .insertInto('hosts')
          .values({ ...host, name, state })
          .returning('id')
          .executeTakeFirst()
        idOf[name] = row?.id as number
      })
    const deleted = await api.site(owner, 'deleted')
    await database.transaction(async (tx) => {
      const directory = { core_version: '6.8', install: 'wordpress', created_at: 1, state: 'taken' } as const
      const inTrash = { ...directory, site_id: deleted, host_id: idOf.trash as number }
      // prepared for a site of the future: nobody's
      const prepared = { ...directory, state: 'prepared', host_id: idOf.empty as number } as const
      for (const values of [inTrash, prepared]) await tx.insertInto('site_homes').values(values).execute()
      await tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', deleted).execute()
      for (const [name, state] of [
        ['leaving', 'queued'],
        ['empty', 'succeeded'],
      ] as const)
        await tx
          .insertInto('operations')
          .values({
            ...{ type: 'host.drain', runner: 'control', state, input: JSON.stringify({ host: name }) },
            ...{ cancel_requested: 0, attempts: 0, run_at: 0, progress: 0, created_at: 0 },
            finished_at: state === 'queued' ? null : 1,
          })
          .execute()
    })
    const shown = Object.fromEntries((await listHousing(database.read)).map(({ name, state }) => [name, state]))
    expect(shown).toMatchObject({ empty: 'drained', open: 'active', leaving: 'draining', trash: 'cordoned' })
  },
)
