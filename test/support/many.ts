import { sql } from 'kysely'
import { isPostgres, type Tx } from '../../src/platform/db/database.ts'

/** Returns numbers from 1 to n as a table `n(i)`, on both databases. */
export const numbers = (tx: Tx, upTo: number) =>
  isPostgres(tx)
    ? sql`(select i from generate_series(1, ${sql.lit(upTo)}) as g(i)) as n`
    : sql`(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${sql.lit(upTo)}) select i from c) as n`

/** How many of everything. */
export interface Amounts {
  readonly sites: number
  readonly collaboratorsASite: number
  readonly logEntriesASite: number
}

/**
 * Fills an empty database: account 1 owns all sites, accounts 2 to 101 collaborate on them in turn, every tenth site
 * has the tag `shop`, and every hundredth is a favorite.
 */
export async function fillWithMany(tx: Tx, { sites, collaboratorsASite, logEntriesASite }: Amounts): Promise<void> {
  const run = (statement: ReturnType<typeof sql>) => statement.execute(tx)
  await run(sql`insert into accounts (id, email, name, organization, phone_number, plan, default_php_version, created_at)
    select i, 'person-' || i || '@example.com', 'Person ' || i, '', '', 'High Traffic', '8.3', 1 from ${numbers(tx, 101)}`)
  await run(sql`insert into hosts (id, name, address, datacenters, max_sites, facts, seen_at)
    values (1, 'many', 'http://127.0.0.1:1', '', 1000000, '{}', 1)`)
  await run(sql`insert into sites (id, account_id, name, display_name, state, staging, datacenter_code, host_id, php_version,
      core_version, core_channel, install, environment_type, multisite, light_404, edge_cache, cdn, maintenance, cache_epoch,
      admin_username, admin_email, created_at)
    select i, 1, 'site-' || i, 'site-' || i, 'live', 0, 'AMS', 1, '8.3', '6.8.12', 'stable', 'wordpress', 'production', 0, 0, 0,
      0, 0, 1, 'admin', 'admin@example.com', i from ${numbers(tx, sites)}`)
  await run(sql`insert into routes (host_name, site_id, changed_at)
    select 'site-' || i || '.localhost', i, 1 from ${numbers(tx, sites)}`)
  await run(sql`insert into site_access (account_id, site_id, site_name, rank, is_deleted, php_version)
    select 1, i, 'site-' || i, case when i % 100 = 0 then 0 else 1 end, 0, '8.3' from ${numbers(tx, sites)}`)
  const collaborators = sites * collaboratorsASite
  const [site, account] = [sql`(i - 1) / ${sql.lit(collaboratorsASite)} + 1`, sql`2 + (i % 100)`]
  await run(sql`insert into collaborators (site_id, account_id, owner_account_id, state, wp_username, roles, created_at, updated_at)
    select ${site}, ${account}, 1, 'active', 'person', '["manage_dns"]', 1, 1 from ${numbers(tx, collaborators)}`)
  await run(sql`insert into site_access (account_id, site_id, site_name, rank, is_deleted)
    select ${account}, ${site}, 'site-' || (${site}), 1, 0 from ${numbers(tx, collaborators)}`)
  const words = (account: unknown, word: unknown) => sql`insert into search_words (account_id, kind, about_id, word)
    select ${account}, 'site', i, ${word} from ${numbers(tx, sites)}`
  for (const word of [sql`'site'`, sql`'localhost'`, sql`cast(i as text)`]) await run(words(sql.lit(1), word))
  await run(sql`insert into search_words (account_id, kind, about_id, word)
    select 1, 'person', id, cast(id as text) from accounts where id > 1`)
  await run(sql`insert into tags (id, account_id, name) values (1, 1, 'shop')`)
  await run(sql`insert into site_tags (tag_id, site_id, site_name, rank, is_deleted)
    select 1, i, 'site-' || i, case when i % 100 = 0 then 0 else 1 end, 0 from ${numbers(tx, sites)} where i % 10 = 0`)
  await run(sql`insert into activity (account_id, site_id, action, description, message, source, actor_email, ip_address, user_agent, created_at)
    select 1, 1 + i % ${sql.lit(sites)}, case when i % 50 = 0 then 'site.updated' else 'note.created' end, '', '', 'api.v1',
      'person-' || (i % 100) || '@example.com', '192.0.2.' || (i % 250), 'test', ${sql.lit(Date.now())} - i
    from ${numbers(tx, sites * logEntriesASite)}`)
  if (isPostgres(tx))
    for (const table of ['accounts', 'hosts', 'sites', 'tags'])
      await run(sql`select setval(pg_get_serial_sequence(${sql.lit(table)}, 'id'), max(id)) from ${sql.table(table)}`)
}
