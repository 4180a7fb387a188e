import type { Tx } from '../../platform/db/database.ts'

/** What kept an update from touching the site (the release could not be fetched, the disk is full) says nothing about the release. */
export const AGAIN_MS = 12 * 3_600_000

export interface FailedUpdate {
  readonly siteId: number
  readonly version: string
  /** When Stead tries it again by itself; null: never. */
  readonly againAt: number | null
}

/** A site could not be brought to a release. */
export async function rememberFailure(tx: Tx, failure: FailedUpdate & { readonly now: number }): Promise<void> {
  const values = { version: failure.version, again_at: failure.againAt, failed_at: failure.now }
  await tx
    .insertInto('failed_updates')
    .values({ site_id: failure.siteId, ...values })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(values))
    .execute()
}

/** The last that failed, unless the site was brought to a release since. */
export async function failureOf(tx: Tx, siteId: number): Promise<FailedUpdate | undefined> {
  return tx
    .selectFrom('failed_updates')
    .select(['site_id as siteId', 'version', 'again_at as againAt'])
    .where('site_id', '=', siteId)
    .executeTakeFirst()
}

/** The site was brought to a release, or it goes. */
export async function forgetFailure(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('failed_updates').where('site_id', '=', siteId).execute()
}
