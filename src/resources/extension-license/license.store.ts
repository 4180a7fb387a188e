import type { Tx } from '../../platform/db/database.ts'
import type { License } from '../sites/public.ts'

const columns = [
  'id',
  'site_id as siteId',
  'license_key as licenseKey',
  'issued_at as issuedAt',
  'revoked_at as revokedAt',
] as const

/** Returns the newest license of a site, revoked or active. */
export async function findLicense(tx: Tx, siteId: number): Promise<License | undefined> {
  return tx.selectFrom('extension_licenses').select(columns).where('site_id', '=', siteId).executeTakeFirst()
}

/** Replaces a revoked license. */
export async function insertLicense(
  tx: Tx,
  { siteId, licenseKey, now }: { siteId: number; licenseKey: string; now: number },
): Promise<void> {
  await deleteLicenseOfSite(tx, siteId)
  await tx
    .insertInto('extension_licenses')
    .values({ site_id: siteId, license_key: licenseKey, issued_at: now, revoked_at: null })
    .execute()
}

/** Revokes a license. One that is already revoked keeps its time. */
export async function markRevoked(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx
    .updateTable('extension_licenses')
    .set({ revoked_at: now })
    .where('site_id', '=', siteId)
    .where('revoked_at', 'is', null)
    .execute()
}

export async function deleteLicenseOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('extension_licenses').where('site_id', '=', siteId).execute()
}
