import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { fillWithMany, numbers } from '../../../test/support/many.ts'
import { plansOf, wholeTableReads } from '../../../test/support/plans.ts'
import type { Tx } from '../../platform/db/database.ts'
import { sitesDue } from '../plugins/plugin.store.ts'
import { extensionsCount, extensionsPage, isSeenWith, sitesCount, sitesPage, versionsOf } from './inventory.store.ts'

const SITES = 10_000
const PLUGINS = 20
const page = { perPage: 50, offset: 0 }
const filter = { accountId: 1, kind: 'plugin' } as const
const having = { ...filter, slug: 'plugin-7' }

const lists: Record<string, (tx: Tx) => Promise<unknown>> = {
  'a page of plugins': (tx) => extensionsPage(tx, filter, page),
  'a page of plugins by part of the name': (tx) => extensionsPage(tx, { ...filter, part: 'gin-1' }, page),
  'a page of plugins with updates': (tx) => extensionsPage(tx, { ...filter, isDue: true, isActive: true }, page),
  'the plugins of a site': (tx) => extensionsPage(tx, { ...filter, siteId: 77 }, page),
  'the number of plugins': (tx) => extensionsCount(tx, filter),
  'versions of plugins': (tx) => versionsOf(tx, filter, ['plugin-7', 'plugin-8']),
  'whether a plugin is installed': (tx) => isSeenWith(tx, having),
  'a page of sites with a plugin': (tx) => sitesPage(tx, having, { ...page, offset: 9000 }),
  'a page of sites with a plugin by ID': (tx) => sitesPage(tx, having, { ...page, after: 9000 }),
  'a page of sites with updates': (tx) => sitesPage(tx, { ...having, isDue: true }, page),
  'the number of sites with a plugin': (tx) => sitesCount(tx, having),
  'sites that are due to be listed': (tx) => sitesDue(tx, 5, 20),
}

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`plugins of 10,000 sites on ${dialect}`, () => {
    let made: TestDatabase
    beforeAll(async () => {
      made = await testDatabase(dialect)
      await made.database.transaction(async (tx) => {
        await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
        await sql`insert into site_extensions
            (site_id, kind, slug, title, version, is_active, update_version, is_automatic)
          select i / ${sql.lit(PLUGINS)} + 1, 'plugin', 'plugin-' || (i % ${sql.lit(PLUGINS)}), 'Plugin', '1.' || (i % 3),
            1, case when i % 3 = 0 then '2.0' end, 0 from ${numbers(tx, SITES * PLUGINS - 1)}`.execute(tx)
        await sql`insert into extension_counts
            (account_id, kind, slug, version, title, sites, active, update_due, automatic)
          select account_id, kind, slug, version, 'Plugin', count(*), sum(is_active), count(update_version), 0
          from site_extensions join site_access on site_access.site_id = site_extensions.site_id
          group by account_id, kind, slug, version`.execute(tx)
        await sql`insert into plugin_lists (site_id, plugins, due_at) select i, '[]', i from ${numbers(tx, SITES)}`.execute(
          tx,
        )
      })
      if (dialect === 'postgres') await sql`vacuum analyze`.execute(made.database.read)
    })
    afterAll(() => made.drop())

    test('the first page counts all sites', async () => {
      const found = await extensionsPage(made.database.read, filter, page)
      expect(found).toHaveLength(PLUGINS)
      expect(found[0]?.sites).toBe(SITES)
    })

    for (const [what, work] of Object.entries(lists)) {
      test(`${what} is answered from an index`, async () => {
        const plans = await plansOf(made, work)
        expect(plans.length).toBeGreaterThan(0)
        for (const plan of plans) {
          // A page of sites, and sums of a few hundred counts, are read as a whole, and sorted.
          const lines = wholeTableReads(plan).filter((line) => !/FOR ORDER BY|^SCAN (page|slugs)$/.test(line))
          expect(lines, `${plan.sql}\n${plan.plan}`).toEqual([])
        }
      })
    }
  })
}
