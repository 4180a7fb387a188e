import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/**
 * The installation's own authorities, which certify controls, edges and hosts for connections between machines, and
 * the certificates that they issued.
 */
export const roleCertificates: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('role_authorities')
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('certificate', 'text', (column) => column.notNull())
      .addColumn('private_key', 'text', (column) => column.notNull())
      .addColumn('signs_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('role_certificates')
      .addColumn('serial', 'text', (column) => column.primaryKey())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('issued_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .execute()
    const of = (columns: string[], name: string) =>
      db.schema.createIndex(`role_certificates_${name}`).on('role_certificates').columns(columns).execute()
    await of(['role', 'name'], 'name')
    await of(['expires_at'], 'expires')
    const revoked = { name: 'role_certificates_revoked', table: 'role_certificates', columns: 'serial' }
    await partialIndex(db, { ...revoked, where: 'revoked_at is not null' })
    await db.schema.alterTable('processes').addColumn('certificate_serial', 'text').execute()
  },
}
