import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** SFTP users of sites. Existing sites get the users that they would have. */
export const sftpUsers: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'sftp_users')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('username', 'text', (column) => column.notNull().unique())
      .addColumn('password_hash', 'text')
      .addColumn('password_by', 'bigint')
      .addColumn('epoch', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('modified_at', 'bigint', (column) => column.notNull())
      .addColumn('accessed_at', 'bigint')
      .addUniqueConstraint('sftp_users_once', ['site_id', 'account_id'])
      .execute()
    await tableWithId(db, 'sftp_keys')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('added_by', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('sftp_keys_once', ['user_id', 'fingerprint'])
      .execute()
    await db.schema.createIndex('sftp_keys_of_site').on('sftp_keys').column('site_id').execute()
    await giveUsers(db)
  },
}

/** The owner of each site, and its collaborators with the role. */
async function giveUsers(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into sftp_users (site_id, account_id, username, created_at, modified_at)
    select id, account_id, ':' || id || ':' || account_id, created_at, created_at from sites
    union all
    select site_id, account_id, ':' || site_id || ':' || account_id, created_at, created_at
    from collaborators where roles like '%"sftp_access"%'`.execute(db)
  await sql`
    update sftp_users set username = (select name from sites where sites.id = sftp_users.site_id) || '_' || id
    where exists (select 1 from sites where sites.id = sftp_users.site_id)`.execute(db)
}
