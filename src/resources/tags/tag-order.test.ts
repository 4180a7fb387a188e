import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, testDatabase } from '../../../test/support/database.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { makeAccount } from '../account/account.ts'
import { countVisibleSites, listVisibleSites } from '../sites/show/visible-site.store.ts'

describe.each(dialects)('tags from before they were stored in the order of lists, on $dialect', ({ dialect, skip }) => {
  test.skipIf(skip)('have that order after the migration', async () => {
    const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0062'))
    const { database, drop } = await testDatabase(dialect, before)
    try {
      const accountId = await database.transaction(async (tx) => {
        const { id } = await makeAccount(tx, { email: 'a@example.com', plan: 'Personal', now: 1 })
        await sql`insert into tags (id, account_id, name) values (1, ${id}, 'shop')`.execute(tx)
        for (const [site, rank, deleted] of [
          [1, 1, 0],
          [2, 0, 0],
          [3, 0, 1],
        ] as const) {
          await sql`insert into sites (id, account_id, name, display_name, state, staging, datacenter_code, php_version, core_channel,
              install, environment_type, multisite, light_404, edge_cache, cdn, maintenance, cache_epoch, admin_username, admin_email,
              created_at, deleted_at)
            values (${site}, ${id}, ${`site-${site}`}, 'x', 'live', 0, 'AMS', '8.3', 'stable', 'wordpress', 'production', 0, 0, 0, 0, 0, 1,
              'admin', 'a@example.com', 1, ${deleted ? 1 : null})`.execute(tx)
          await sql`insert into site_access (account_id, site_id, site_name, rank, is_deleted)
            values (${id}, ${site}, ${`site-${site}`}, ${rank}, ${deleted})`.execute(tx)
          await sql`insert into site_tags (tag_id, site_id) values (1, ${site})`.execute(tx)
        }
        return id
      })
      await migrate(database, migrations)
      const page = { perPage: 10, offset: 0 }
      const sites = await listVisibleSites(database.read, accountId, { tagName: 'shop' }, page)
      expect(sites.map(({ id }) => id)).toEqual([2, 1])
      expect(await countVisibleSites(database.read, accountId, { tagName: 'shop' })).toBe(2)
    } finally {
      await drop()
    }
  })
})
