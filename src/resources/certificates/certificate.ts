import type { Tx } from '../../platform/db/database.ts'
import { isCertifiable } from './certifiable.ts'
import { changeName, changeServedName, deleteName, findName, insertName } from './certificate.store.ts'
import { ORDER_LEASE_MS, startOrder } from './order-certificate.job.ts'

/**
 * Requests a certificate for a name that is (or will be) in `routes`. It is ordered as soon as the transaction has
 * committed, and then renewed. A name that this site already has is left unchanged.
 * @returns false for a name that no authority knows
 */
export async function wantCertificate(
  tx: Tx,
  { hostName, siteId, now }: { readonly hostName: string; readonly siteId: number; readonly now: number },
): Promise<boolean> {
  if (!isCertifiable(hostName)) return false
  if (await insertName(tx, { hostName, siteId, dueAt: now + ORDER_LEASE_MS, now }))
    await startOrder(tx, { hostName, siteId, now })
  return true
}

/** Deletes a name with its certificate and any order in progress. */
export const dropCertificate = (tx: Tx, hostName: string): Promise<void> => deleteName(tx, hostName)

/**
 * Retries now.
 * @returns the operation, or undefined when no certificate is wanted for the name
 */
export async function retryCertificate(tx: Tx, hostName: string, now: number): Promise<number | undefined> {
  const row = await findName(tx, hostName)
  if (!row) return undefined
  await changeName(tx, hostName, { due_at: now + ORDER_LEASE_MS })
  return startOrder(tx, { hostName, siteId: row.site_id, now })
}

/**
 * Sets whether visitors are redirected to https, and browsers told to stay there.
 * @returns false when no certificate is wanted for the name
 */
export const forceTls = (tx: Tx, hostName: string, isForced: boolean): Promise<boolean> =>
  changeServedName(tx, hostName, { force_tls: isForced ? 1 : 0 })

/** Facts about a name's certificate. */
export interface CertificateState {
  /** The last order. Null before the first one. */
  readonly orderUrl: string | null
  readonly authzUrl: string | null
  /** Milliseconds UTC, like all times. */
  readonly validationExpiresAt: number | null
  readonly expiresAt: number | null
  /** Whether visitors get it. */
  readonly isIssued: boolean
  readonly forceTls: boolean
  /** Why there is none, or no newer one, as a sentence without a full stop. */
  readonly reason: string | null
  readonly reasonAt: number | null
}

/** @returns undefined when no certificate is wanted for the name */
export async function certificateState(tx: Tx, hostName: string): Promise<CertificateState | undefined> {
  const row = await findName(tx, hostName)
  return (
    row && {
      orderUrl: row.order_url,
      authzUrl: row.authz_url,
      validationExpiresAt: row.authz_expires_at,
      expiresAt: row.expires_at,
      isIssued: row.chain !== null,
      forceTls: row.force_tls === 1,
      reason: row.reason,
      reasonAt: row.reason_at,
    }
  )
}
