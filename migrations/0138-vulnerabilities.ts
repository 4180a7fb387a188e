import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Known vulnerabilities of plugins, themes and WordPress, as the feed had them last, and when it was read. */
export const vulnerabilities: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('vulnerabilities')
      .addColumn('feed_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('affected', 'text', (column) => column.notNull())
      .addColumn('fixed_in', 'text', (column) => column.notNull())
      .addColumn('severity', 'text')
      .addColumn('tenths', 'integer')
      .addColumn('cve', 'text')
      .addColumn('link', 'text')
      .addColumn('published_at', 'bigint')
      .addColumn('read_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('vulnerabilities_pk', ['feed_id', 'kind', 'slug'])
      .execute()
    await db.schema.createIndex('vulnerabilities_slug').on('vulnerabilities').columns(['kind', 'slug']).execute()
    await db.schema
      .createTable('vulnerability_feeds')
      .addColumn('address', 'text', (column) => column.primaryKey())
      .addColumn('tried_at', 'bigint', (column) => column.notNull())
      .addColumn('fault', 'text')
      .execute()
    await db.schema.createIndex('vulnerabilities_read').on('vulnerabilities').column('read_at').execute()
  },
}
