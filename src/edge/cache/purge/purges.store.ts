import type { Tx } from '../../../platform/db/database.ts'
import { precompiled } from '../../../platform/db/precompiled.ts'
import type { PurgesSince } from './purge-feed.ts'

/** Returns the purges after a sequence number, in order, or with undefined only the newest number. */
export async function purgesSince(tx: Tx, seq: number | undefined): Promise<PurgesSince> {
  const [clock] = await readClock(tx, {})
  const { seq: newest } = clock as { seq: number }
  if (seq === undefined || newest <= seq) return { newest, purges: [] }
  const rows = await readAfter(tx, { seq })
  const purges = rows.map((row) => ({
    seq: row.seq,
    siteId: row.site_id,
    pageEpoch: row.page_epoch,
    fileEpoch: row.file_epoch,
    paths: row.paths === null ? [] : (JSON.parse(row.paths) as string[]),
  }))
  // Read after the clock, so more may have been committed in between.
  return { newest: Math.max(newest, purges.at(-1)?.seq ?? 0), purges }
}

const readClock = precompiled((tx) => tx.selectFrom('purge_clock').select('seq').where('id', '=', 1))

const readAfter = precompiled((tx, { seq }: { seq: number }) =>
  tx.selectFrom('cache_purges').selectAll().where('seq', '>', seq).orderBy('seq'),
)
