import type { Tx } from '../../platform/db/database.ts'
import type { Site } from '../sites/public.ts'
import type { Claim } from './claim.ts'

const columns = [
  'id',
  'zone',
  'account_id as accountId',
  'holder_id as holderId',
  'site_id as siteId',
  'host_name as hostName',
  'value',
  'moves_at as movesAt',
] as const

export async function insertClaim(tx: Tx, claim: Omit<Claim, 'id'>): Promise<void> {
  await tx
    .insertInto('zone_claims')
    .values({
      ...{ zone: claim.zone, account_id: claim.accountId, holder_id: claim.holderId, site_id: claim.siteId },
      ...{ host_name: claim.hostName, value: claim.value, moves_at: claim.movesAt, due_at: claim.movesAt },
    })
    .execute()
}

export const claimOfAccount = (tx: Tx, accountId: number, zone: string): Promise<Claim | undefined> =>
  tx
    .selectFrom('zone_claims')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('zone', '=', zone)
    .executeTakeFirst()

export const findClaim = (tx: Tx, id: number): Promise<Claim | undefined> =>
  tx.selectFrom('zone_claims').select(columns).where('id', '=', id).executeTakeFirst()

/**
 * Returns the pending claims of a site, and those of zones by other accounts than the site's, ordered by when they
 * move.
 */
export const claimsAround = (
  tx: Tx,
  { id, accountId }: Pick<Site, 'id' | 'accountId'>,
  { zones, most }: { readonly zones: readonly string[]; readonly most: number },
): Promise<Claim[]> =>
  tx
    .selectFrom('zone_claims')
    .select(columns)
    .where((is) => {
      const ofOthers = zones.length > 0 ? [is.and([is('zone', 'in', zones), is('account_id', '<>', accountId)])] : []
      return is.or([is('site_id', '=', id), ...ofOthers])
    })
    .orderBy('moves_at')
    .orderBy('id')
    .limit(most)
    .execute()

export async function countClaims(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('zone_claims')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Takes due claims, those that have waited longest first. They are due again at `again`, unless they have ended. */
export async function takeDueClaims(tx: Tx, now: number, again: number, most: number): Promise<Claim[]> {
  const due = await tx
    .selectFrom('zone_claims')
    .select(columns)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(most)
    .execute()
  for (const { id } of due) await tx.updateTable('zone_claims').set({ due_at: again }).where('id', '=', id).execute()
  return due
}

/** @returns false when it has already ended */
export async function deleteClaim(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('zone_claims').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

export async function forgetClaims(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('zone_claims').where('site_id', '=', siteId).execute()
}

/** Returns the claims by an account, and those of its domains by others. */
export const claimsAbout = (tx: Tx, accountId: number): Promise<Claim[]> =>
  tx
    .selectFrom('zone_claims')
    .select(columns)
    .where((is) => is.or([is('account_id', '=', accountId), is('holder_id', '=', accountId)]))
    .orderBy('id')
    .execute()
