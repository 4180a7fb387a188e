import type { Tx } from '../../platform/db/database.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { changeOfJob } from '../kit/change.ts'
import { actions } from './actions.ts'
import { findName, type StoredCertificate } from './certificate.store.ts'
import { NO_SITE } from './own-names.ts'

type Context = Pick<FailureContext, 'accountId' | 'operationId' | 'now'>

/** Logs an issued certificate for the site, or for the account if the name is the installation's. */
export async function tellIssued(tx: Tx, context: Context, hostName: string): Promise<void> {
  const row = await findName(tx, hostName)
  if (!row || context.accountId === null) return
  const isOwn = row.site_id === NO_SITE
  await changeOfJob(tx, { ...context, siteId: isOwn ? null : row.site_id }).record({
    action: isOwn ? actions['own_certificate.issued'] : actions['certificate.issued'],
    message: `A certificate was issued for ${hostName}`,
  })
}

/** Logs each new reason once. Alerts tell people when the current certificate is about to expire. */
export async function tellFailed(tx: Tx, context: Context, row: StoredCertificate, reason: string): Promise<void> {
  const { accountId } = context
  if (accountId === null || row.reason === reason) return
  const isOwn = row.site_id === NO_SITE
  await changeOfJob(tx, { ...context, siteId: isOwn ? null : row.site_id }).record({
    action: isOwn ? actions['own_certificate.failed'] : actions['certificate.failed'],
    message: `No certificate for ${row.host_name}: ${reason}`,
  })
}
