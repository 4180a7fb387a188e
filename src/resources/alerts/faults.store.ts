import type { Tx } from '../../platform/db/database.ts'
import type { AlertFinding } from './judge/reconcile.ts'

/** Faults of sites that their hosts count. */
export type SiteFaultKind = 'php_errors' | 'mail_bouncing'

/** Notes that a site has more faults of a kind than it should. */
export async function noteFault(
  tx: Tx,
  { kind, siteId, detail, now }: { kind: SiteFaultKind; siteId: number; detail: string; now: number },
): Promise<void> {
  const site = await tx.selectFrom('sites').select('id').where('id', '=', siteId).executeTakeFirst()
  // It was purged meanwhile.
  if (!site) return
  await tx
    .insertInto('site_faults')
    .values({ site_id: siteId, kind, detail, seen_at: now })
    .onConflict((conflict) => conflict.columns(['site_id', 'kind']).doUpdateSet({ detail, seen_at: now }))
    .execute()
}

/** Returns sites with faults of a kind between two times, as findings. */
export function faultsSince(tx: Tx, kind: SiteFaultKind, from: number, to: number): Promise<AlertFinding[]> {
  return tx
    .selectFrom('site_faults')
    .innerJoin('sites', 'sites.id', 'site_faults.site_id')
    .select(['site_id as siteId', 'detail'])
    .where('kind', '=', kind)
    .where('seen_at', '>', from)
    .where('seen_at', '<', to)
    .where('deleted_at', 'is', null)
    .orderBy('site_id')
    .execute()
}

/** Deletes faults that were not seen between two times. */
export async function forgetFaults(tx: Tx, from: number, to: number): Promise<void> {
  await tx
    .deleteFrom('site_faults')
    .where(({ or, eb }) => or([eb('seen_at', '<', from), eb('seen_at', '>', to)]))
    .execute()
}
