import { announce, type Tx } from '../../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../../platform/db/precompiled.ts'
import { raiseCacheEpochs } from './cache-epochs.store.ts'

/** Which of a site's stored pages and files to purge. */
export interface PurgeOrder {
  /** All pages, or those of some paths (`/a/`, or `/a/*` for everything that begins with it). */
  readonly pages?: 'all' | readonly string[]
  /** All files (CDN), or those of some paths. */
  readonly files?: 'all' | readonly string[]
}

/** Edges that missed more purges than this empty their cache. */
const KEPT_PURGES = 10_000

/**
 * Orders edges to remove stored pages and files of a site. It takes effect on all of them within milliseconds of the
 * commit, or within a second when a notification is lost. Purges of all sites take turns from here to the end of the
 * transaction, so call it last.
 * @returns the number of the purge, or 0 for a site that does not exist or an empty order
 */
export async function purgeCaches(tx: Tx, siteId: number, { pages = [], files = [] }: PurgeOrder): Promise<number> {
  if (pages.length === 0 && files.length === 0) return 0
  const epochs = await raiseCacheEpochs(tx, siteId, { pages: pages === 'all', files: files === 'all' })
  if (!epochs) return 0
  const [clock] = await advance(tx, {})
  const { seq } = clock as { seq: number }
  const paths = [pages, files].flatMap((each) => (each === 'all' ? [] : each))
  await insert(tx, {
    seq,
    siteId,
    pageEpoch: pages === 'all' ? epochs.pages : null,
    fileEpoch: files === 'all' ? epochs.files : null,
    paths: paths.length === 0 ? null : JSON.stringify(paths),
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
