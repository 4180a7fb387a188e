import type { CoreOffer } from '../../hosting/core-library/core-library.ts'
import type { Tx } from '../../platform/db/database.ts'

export interface Release extends CoreOffer {
  /** Milliseconds UTC. */
  readonly seenAt: number
}

export async function knownReleases(tx: Tx): Promise<Release[]> {
  return tx.selectFrom('core_releases').select(['version', 'kind', 'seen_at as seenAt']).execute()
}

/** What is offered now; what is offered no more goes. */
export async function replaceReleases(tx: Tx, offers: readonly CoreOffer[], now: number): Promise<void> {
  await tx.deleteFrom('core_releases').execute()
  const rows = offers.map(({ version, kind }) => ({ version, kind, seen_at: now }))
  if (rows.length > 0) await tx.insertInto('core_releases').values(rows).execute()
}
