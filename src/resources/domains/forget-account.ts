import type { Tx } from '../../platform/db/database.ts'
import { dropZone, zonesOfAccount } from '../dns/public.ts'
import { setDnssec } from '../dnssec/public.ts'
import type { LeavingAccount } from '../kit/account-hooks.ts'
import { claimsAbout, deleteClaim } from './claim.store.ts'
import { endClaim } from './end-claim.ts'

/**
 * Deletes the zones of an account whose sites are gone, and ends claims of its domains. A claim by the account itself
 * goes with it: its holder keeps the domain.
 */
export async function forgetDomainsOf(tx: Tx, { accountId, now }: LeavingAccount): Promise<void> {
  for (const zoneId of await zonesOfAccount(tx, accountId)) {
    await setDnssec(tx, zoneId, 'off', null)
    await dropZone(tx, zoneId, now)
  }
  for (const claim of await claimsAbout(tx, accountId))
    if (claim.accountId === accountId && claim.holderId === accountId) await deleteClaim(tx, claim.id)
    else await endClaim(tx, claim, { why: whyOf(claim.accountId === accountId), now })
}

const whyOf = (isByAccount: boolean): string =>
  isByAccount ? 'the account that claimed it was removed' : 'the account that had it was removed. Add the domain again'
