import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { plansOf, wholeTableReads } from '../../../test/support/plans.ts'
import type { Tx } from '../../platform/db/database.ts'
import { makeAccount } from '../account/account.ts'
import { ownedSites, sitesWithRights } from '../sites/rights.store.ts'
import { accountAccess, mayCreateSitesFor } from './account-access.store.ts'
import {
  collaboratorsAround,
  findCollaborator,
  findCollaboratorOfSite,
  findMembership,
  listCollaboratorsOfSite,
  membershipsAmong,
} from './collaborator.store.ts'

const SITES = 10_000
const ACCOUNTS = 200
const COLLABORATORS = 50_000

/** The queries of each operation on collaborators. */
const reads: [string, (tx: Tx) => Promise<unknown>][] = [
  ['all of an account', (tx) => collaboratorsAround(tx, 3)],
  ['one of an account', (tx) => findCollaborator(tx, 3, 100)],
  ['all of a site', (tx) => listCollaboratorsOfSite(tx, 17)],
  ['one of a site', (tx) => findCollaboratorOfSite(tx, 17, 100)],
  ['one by its account', (tx) => findMembership(tx, 17, 5)],
  ['on which of some sites', (tx) => membershipsAmong(tx, 5, [1, 2, 3])],
  ['rights on all sites', (tx) => sitesWithRights(tx, 3)],
  ['rights on some sites', (tx) => sitesWithRights(tx, 3, [1, 2, 3])],
  ['all sites of an owner', (tx) => ownedSites(tx, 3)],
  ['account-level access', (tx) => accountAccess(tx, 3)],
  ['the right to create sites', (tx) => mayCreateSitesFor(tx, 3, 4)],
]

describe.each(dialects)(`plans with ${COLLABORATORS} collaborators ($dialect)`, ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let made: TestDatabase

  beforeAll(async () => {
    made = await testDatabase(dialect)
    await fill(made)
  })
  afterAll(() => made?.drop())

  test.each(reads)('%s is read from an index', async (_, read) => {
    const plans = await plansOf(made, read)
    expect(plans.length).toBeGreaterThan(0)
    for (const plan of plans) expect([plan.sql, wholeTableReads(plan)]).toEqual([plan.sql, []])
  })

  test('the list has all of them, once, in order', async () => {
    const list = await collaboratorsAround(made.database.read, 3)
    const { count } = await made.database.read
      .selectFrom('collaborators')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(({ or, eb }) => or([eb('owner_account_id', '=', 3), eb('account_id', '=', 3)]))
      .executeTakeFirstOrThrow()
    expect(list).toHaveLength(Number(count))
    expect(list.map(({ id }) => id)).toEqual([...new Set(list.map(({ id }) => id))].sort((a, b) => a - b))
  })
})

/** Fills the tables. Site `n` belongs to account `n % ACCOUNTS + 1`, and five other accounts collaborate on each. */
async function fill({ database }: TestDatabase): Promise<void> {
  await database.transaction(async (tx) => {
    for (let number = 1; number <= ACCOUNTS; number++)
      await makeAccount(tx, { email: `a${number}@example.com`, plan: 'Business', now: 0 })
    const numbers = (most: number) =>
      sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(most)})`
    await sql`insert into sites (id, account_id, name, display_name, state, staging, datacenter_code, php_version,
        core_channel, install, environment_type, multisite, light_404, edge_cache, cdn, maintenance, cache_epoch,
        admin_username, admin_email, created_at)
      ${numbers(SITES)} select i, i % ${sql.lit(ACCOUNTS)} + 1, 'site-' || i, 'x', 'live', 0, 'AMS', '8.3', 'stable',
        'wordpress', 'production', 0, 0, 0, 0, 0, 1, 'admin', 'a@example.com', 0 from n`.execute(tx)
    await sql`insert into collaborators (site_id, account_id, owner_account_id, state, wp_username, roles, created_at, updated_at)
      ${numbers(COLLABORATORS)} select (i - 1) / 5 + 1, ((i - 1) / 5 + 2 + (i - 1) % 5) % ${sql.lit(ACCOUNTS)} + 1,
        ((i - 1) / 5 + 1) % ${sql.lit(ACCOUNTS)} + 1, 'active', 'x', '[]', 0, 0 from n`.execute(tx)
    await sql`insert into site_access (account_id, site_id, site_name, rank, is_deleted)
      select account_id, id, name, 1, 0 from sites
      union all select account_id, site_id, 'site-' || site_id, 1, 0 from collaborators`.execute(tx)
  })
}
