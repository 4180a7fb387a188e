import type { Tx } from '../../platform/db/database.ts'
import { changeBy, type Recording } from '../kit/change.ts'
import { actions, events } from './actions.ts'
import { deleteClaim } from './claim.store.ts'
import type { Claim } from './claim.ts'

export interface ClaimEnd {
  /** Why the domain does not move, as a part of a sentence. Undefined if it moved. */
  readonly why?: string | undefined
  readonly now: number
  /** Records for the claiming account. Default: as Stead's own change. */
  readonly record?: Recording['record'] | undefined
}

/** Deletes a claim and tells both accounts how it ended. Does nothing if it had already ended. */
export async function endClaim(tx: Tx, claim: Claim, { why, now, record }: ClaimEnd): Promise<void> {
  if (!(await deleteClaim(tx, claim.id))) return
  const { zone, accountId, holderId, siteId } = claim
  const hasMoved = why === undefined
  const data = { domain: zone, moved: hasMoved }
  const recordForClaimant = record ?? changeBy(tx, { actor: 'systems', about: { accountId, siteId }, now }).record
  await recordForClaimant({
    action: actions['domain.claim_ended'],
    message: hasMoved ? `${zone} moved to this account` : `The claim of ${zone} ended: ${why}`,
    event: { type: events.domain_claim_ended, data: { ...data, role: 'claimant' } },
  })
  await changeBy(tx, { actor: 'systems', about: { accountId: holderId }, now }).record({
    action: actions['zone.claim_ended'],
    message: hasMoved
      ? `${zone} moved to the account that proved to control it`
      : `The claim of ${zone} by another account ended: ${why}`,
    event: { type: events.domain_claim_ended, data: { ...data, role: 'holder' } },
  })
}
