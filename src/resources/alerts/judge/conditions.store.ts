import { sql } from 'kysely'
import { usableStates } from '../../../hosting/host-state.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { databaseNow } from '../../../platform/operations/worker/lease.ts'

/** Bytes that a site uses on its disk. */
export interface LargeSite {
  readonly siteId: number
  readonly usedBytes: number
}

/** Returns sites of accounts with a plan that use at least so many bytes, as last measured. */
export async function largeSites(tx: Tx, plan: string, bytes: number): Promise<LargeSite[]> {
  return tx
    .selectFrom('sites')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .innerJoin('site_statistics as used', 'used.site_id', 'sites.id')
    .select(({ eb, ref }) => [
      'sites.id as siteId',
      eb('used.file_bytes', '+', ref('used.database_bytes')).as('usedBytes'),
    ])
    .where('accounts.plan', '=', plan)
    .where('sites.deleted_at', 'is', null)
    .where(({ eb, ref }) => eb(eb('used.file_bytes', '+', ref('used.database_bytes')), '>=', bytes))
    .orderBy('sites.id')
    .$castTo<LargeSite>()
    .execute()
}

/** Returns the plans that accounts have. */
export async function plansInUse(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('accounts').select('plan').distinct().orderBy('plan').execute()
  return rows.map(({ plan }) => plan)
}

/** Returns hosts that may run, with the facts that they last reported, and since when they are silent. */
export async function reportingHosts(tx: Tx, silentMs: number) {
  const rows = await tx
    .selectFrom('hosts')
    .select(['name', 'facts', 'seen_at as seenAt'])
    .select(sql<number>`case when seen_at < ${databaseNow(tx)} - ${silentMs} then 1 else 0 end`.as('silent'))
    .where('state', 'in', usableStates)
    .orderBy('id')
    .execute()
  return rows.map(({ name, facts, seenAt, silent }) => ({
    ...{ name, seenAt, isSilent: Number(silent) === 1 },
    diskUsedShare: (JSON.parse(facts) as { diskUsedShare?: number }).diskUsedShare ?? 0,
  }))
}

/** Returns the causes of open alerts of a kind that began before a time. */
export async function causesSince(tx: Tx, kind: string, before: number) {
  return tx
    .selectFrom('alerts')
    .select(['site_id as siteId', 'subject'])
    .where('kind', '=', kind)
    .where('ended_at', 'is', null)
    .where('began_at', '<', before)
    .execute()
}
