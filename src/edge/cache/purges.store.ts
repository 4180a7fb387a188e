import type { Tx } from '../../platform/db/database.ts'
import type { PurgesSince } from './purge-feed.ts'

/** Purges after a sequence number, in order; undefined: the newest number alone. */
export async function purgesSince(tx: Tx, seq: number | undefined): Promise<PurgesSince> {
  const { seq: newest } = await tx.selectFrom('purge_clock').select('seq').where('id', '=', 1).executeTakeFirstOrThrow()
  if (seq === undefined || newest <= seq) return { newest, purges: [] }
  const rows = await tx.selectFrom('cache_purges').selectAll().where('seq', '>', seq).orderBy('seq').execute()
  const purges = rows.map((row) => ({
    seq: row.seq,
    siteId: row.site_id,
    pageEpoch: row.page_epoch,
    fileEpoch: row.file_epoch,
    paths: row.paths === null ? [] : (JSON.parse(row.paths) as string[]),
  }))
  // read after the clock: more may have been committed in between
  return { newest: Math.max(newest, purges.at(-1)?.seq ?? 0), purges }
}
