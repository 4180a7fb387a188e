import { announce, type Tx } from '../../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../../platform/db/precompiled.ts'
import { raiseCacheEpochs } from './cache-epochs.store.ts'

/** What of a site's stored pages and files is to go. */
export interface PurgeOrder {
  /** All pages; or those of some paths (`/a/`, or `/a/*` for everything that begins so). */
  readonly pages?: 'all' | readonly string[]
  /** All files (CDN). */
  readonly files?: boolean
}

/** Edges that were away longer than so many purges empty their cache. */
const KEPT_PURGES = 10_000

/**
 * Orders edges to let go of stored pages and files of a site: it counts on all of them within milliseconds of the commit, within a second
 * when a notice is lost. Purges of all sites take turns from here to the end of the transaction, so it should be the
 * last thing that it does.
 * @returns the number of the purge; 0 for a site that does not exist, or when nothing is to go
 */
export async function purgeCaches(tx: Tx, siteId: number, { pages = [], files = false }: PurgeOrder): Promise<number> {
  if (pages.length === 0 && !files) return 0
  const epochs = await raiseCacheEpochs(tx, siteId, { pages: pages === 'all', files })
  if (!epochs) return 0
  const [clock] = await advance(tx, {})
  const { seq } = clock as { seq: number }
  await insert(tx, {
    seq,
    siteId,
    pageEpoch: pages === 'all' ? epochs.pages : null,
    fileEpoch: files ? epochs.files : null,
    paths: pages === 'all' || pages.length === 0 ? null : JSON.stringify(pages),
  })
  await prune(tx, { upTo: seq - KEPT_PURGES })
  await announce(tx, 'purges')
  return seq
}

const advance = precompiled((tx) =>
  tx
    .updateTable('purge_clock')
    .set((column) => ({ seq: column('seq', '+', 1) }))
    .where('id', '=', 1)
    .returning('seq'),
)

interface PurgeFacts {
  readonly seq: number
  readonly siteId: number
  readonly pageEpoch: number | null
  readonly fileEpoch: number | null
  readonly paths: string | null
}

const insert = precompiledChange((tx, { seq, siteId, pageEpoch, fileEpoch, paths }: PurgeFacts) =>
  tx.insertInto('cache_purges').values({ seq, site_id: siteId, page_epoch: pageEpoch, file_epoch: fileEpoch, paths }),
)

const prune = precompiledChange((tx, { upTo }: { upTo: number }) =>
  tx.deleteFrom('cache_purges').where('seq', '<=', upTo),
)
