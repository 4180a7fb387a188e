import type { Tx } from '../../../platform/db/database.ts'

/** @returns `undefined` for a site directory without a site */
export async function ownerOfDirectory(
  tx: Tx,
  directoryId: number,
): Promise<{ siteId: number; accountId: number; plan: string } | undefined> {
  return tx
    .selectFrom('site_homes')
    .innerJoin('sites', 'sites.id', 'site_homes.site_id')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .select(['sites.id as siteId', 'accounts.id as accountId', 'accounts.plan'])
    .where('site_homes.id', '=', directoryId)
    .executeTakeFirst()
}

/** @returns whether it was not marked since `unlessSince` */
export async function markDiskFull(
  tx: Tx,
  directoryId: number,
  { now, unlessSince }: { now: number; unlessSince: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('site_homes')
    .set({ disk_full_at: now })
    .where('id', '=', directoryId)
    .where((where) => where.or([where('disk_full_at', 'is', null), where('disk_full_at', '<', unlessSince)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
