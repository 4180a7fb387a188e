import { expect, test } from 'vitest'
import { testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { sitesWithDirectories } from './installation.store.ts'

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
