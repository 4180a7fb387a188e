import type { Tx } from '../../platform/db/database.ts'

/** A site could not be brought to a release. @param againAt when Stead tries it again by itself; null: never */
export async function rememberFailure(
  tx: Tx,
  failure: { readonly siteId: number; readonly version: string; readonly againAt: number | null },
): Promise<void> {
  const values = { version: failure.version, again_at: failure.againAt }
  await tx
    .insertInto('failed_updates')
    .values({ site_id: failure.siteId, ...values })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(values))
    .execute()
}

/** It has a newer release, or it goes. */
export async function forgetFailure(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('failed_updates').where('site_id', '=', siteId).execute()
}
