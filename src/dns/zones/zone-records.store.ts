import type { Tx } from '../../platform/db/database.ts'
import type { ZoneRecord } from '../wire/record-data.ts'

/** The TTL of challenges. It is short, because the next answer for the name will differ. */
const CHALLENGE_TTL = 60

/**
 * Returns all records of zones, including the proofs for certificate authorities.
 * @param names returns only records of these names
 */
export async function recordsWithProofs(
  tx: Tx,
  zoneIds: readonly number[],
  names?: ReadonlySet<string>,
): Promise<(ZoneRecord & { readonly zone_id: number })[]> {
  if (zoneIds.length === 0) return []
  const records = tx
    .selectFrom('dns_records')
    .select(['zone_id', 'type', 'name', 'value', 'priority', 'weight', 'port', 'ttl'])
    .where('zone_id', 'in', zoneIds)
    .$if(names !== undefined, (query) => query.where('name', 'in', [...(names ?? [])]))
    .orderBy('id')
  const challenges = await tx
    .selectFrom('dns_challenges')
    .select(['zone_id', 'name', 'value'])
    .where('zone_id', 'in', zoneIds)
    .execute()
  const ofChallenge = { type: 'TXT', ttl: CHALLENGE_TTL, priority: null, weight: null, port: null }
  return [
    ...(await records.execute()),
    ...challenges.filter(({ name }) => names?.has(name) ?? true).map((row) => ({ ...row, ...ofChallenge })),
  ]
}
