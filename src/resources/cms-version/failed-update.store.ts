import type { Tx } from '../../platform/db/database.ts'

/**
 * Pause after failures that did not touch the site (the release could not be fetched, the disk is full), which say
 * nothing about the release.
 */
export const AGAIN_MS = 12 * 3_600_000

export interface FailedUpdate {
  readonly siteId: number
  readonly version: string
  /** When Stead retries it automatically, or null for never. */
  readonly againAt: number | null
}

/** Records that a site could not be updated to a release. */
export async function rememberFailure(tx: Tx, failure: FailedUpdate & { readonly now: number }): Promise<void> {
  const values = { version: failure.version, again_at: failure.againAt, failed_at: failure.now }
  await tx
    .insertInto('failed_updates')
    .values({ site_id: failure.siteId, ...values })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(values))
    .execute()
}

/** Returns the last failure, unless the site was updated since. */
export async function lastFailureOf(tx: Tx, siteId: number): Promise<FailedUpdate | undefined> {
  return tx
    .selectFrom('failed_updates')
    .select(['site_id as siteId', 'version', 'again_at as againAt'])
    .where('site_id', '=', siteId)
    .executeTakeFirst()
}

/** Deletes the failure after the site was updated or purged. */
export async function forgetFailedUpdate(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('failed_updates').where('site_id', '=', siteId).execute()
}
