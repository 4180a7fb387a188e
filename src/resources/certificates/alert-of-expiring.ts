import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { PLATFORM, reconcileAlerts } from '../alerts/public.ts'
import { expiringNames } from './certificate.store.ts'
import { NO_SITE } from './own-names.ts'

const SOON_MS = 14 * DAY_MS
/** Of the life of a certificate that lives for less than three months. Stead renews after two thirds. */
const SOON_SHARE = 1 / 6

/** Opens alerts for certificates that were not renewed in time, and ends those of others. */
export async function alertOfExpiring(tx: Tx, now: number): Promise<void> {
  const names = (await expiringNames(tx, now + SOON_MS)).filter(
    ({ issuedAt, expiresAt }) => expiresAt - now < (expiresAt - issuedAt) * SOON_SHARE,
  )
  const findings = names.map(({ hostName, siteId, expiresAt, reason }) => ({
    siteId: siteId === NO_SITE ? PLATFORM : siteId,
    subject: hostName,
    detail: `It expires at ${minuteOf(expiresAt)}, and Stead has no newer one${reason === null ? '' : `: ${reason}`}`,
  }))
  const [own, others] = [findings.filter(isOwn), findings.filter((each) => !isOwn(each))]
  await reconcileAlerts(tx, 'certificate_expiring', others, now)
  await reconcileAlerts(tx, 'platform_certificate_expiring', own, now)
}

const isOwn = ({ siteId }: { readonly siteId: number }): boolean => siteId === PLATFORM

const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
