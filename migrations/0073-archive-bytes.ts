import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * For file backups: the length of the archive, once it is known. For archives: the WordPress release that the archive
 * begins with.
 */
export const archiveBytes: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backups').addColumn('archive_bytes', 'bigint').execute()
    await db.schema.alterTable('archive_lengths').addColumn('core', 'text').execute()
    await db.schema.createIndex('archive_lengths_of_core').on('archive_lengths').column('core').execute()
    const known = await db
      .selectFrom('archive_lengths')
      .select(['backup_id', 'places'])
      .where('whole', '=', 1)
      .execute()
    for (const { backup_id, places } of known)
      await db
        .updateTable('backups')
        .set({ archive_bytes: lengthOf(places) })
        .where('id', '=', backup_id)
        .execute()
  },
}

/** Bits of the head and the end of a bzip2 stream, and of each of its blocks. */
function lengthOf(places: string): number {
  const entries = Buffer.from(places, 'base64')
  let bits = 32 + 80
  for (let at = 0; at + 8 <= entries.length; at += 8) bits += entries.readUInt32BE(at)
  return Math.ceil(bits / 8)
}
