import type { Tx } from '../../../platform/db/database.ts'

/**
 * Raises the epochs of a site's stored pages and files, so that older ones are no longer served. Holds the site's row
 * so that its purges take turns, even when nothing is raised.
 * @returns the epochs from here on, or `undefined` for a site that does not exist
 */
export async function raiseCacheEpochs(
  tx: Tx,
  siteId: number,
  { pages, files }: { readonly pages: boolean; readonly files: boolean },
): Promise<{ pages: number; files: number } | undefined> {
  return tx
    .updateTable('sites')
    .set((column) => ({
      cache_epoch: column('cache_epoch', '+', pages ? 1 : 0),
      ...(files && { cdn_epoch: column('cdn_epoch', '+', 1) }),
    }))
    .where('id', '=', siteId)
    .returning(['cache_epoch as pages', 'cdn_epoch as files'])
    .executeTakeFirst()
}
