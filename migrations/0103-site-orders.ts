import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Stores the sort columns of site lists with the accounts that see the sites: name, PHP version, and disk usage. */
export const siteOrders: Migration = {
  async up(db: AnyDb) {
    const columns = [
      ['php_version', 'text', ''],
      ['used_bytes', 'bigint', 0],
    ] as const
    for (const [column, type, value] of columns)
      await db.schema
        .alterTable('site_access')
        .addColumn(column, type, (definition) => definition.notNull().defaultTo(value))
        .execute()
    await sql`update site_access set
      php_version = (select sites.php_version from sites where sites.id = site_access.site_id),
      used_bytes = coalesce((select database_bytes + file_bytes from site_statistics
        where site_statistics.site_id = site_access.site_id), 0)`.execute(db)
    for (const column of ['site_name', 'php_version', 'used_bytes'])
      await partialIndex(db, {
        name: `site_access_${column}`,
        table: 'site_access',
        columns: `account_id, ${column}, site_id`,
        where: 'is_deleted = 0',
      })
  },
}
