import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'

/**
 * Deletes days before one, and from another on: a clock that was wrong may have left days of the future.
 * @returns how many rows; call again until it is 0
 */
export async function forgetUptime(tx: Tx, before: number, from: number, most: number): Promise<number> {
  const old = tx
    .selectFrom('uptime_days')
    .select(['site_id', 'day'])
    .where(({ or, eb }) => or([eb('day', '<', before), eb('day', '>', from)]))
    .limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('uptime_days')
    .where(({ refTuple }) => sql<boolean>`${refTuple('site_id', 'day')} in (${old})`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** @returns how many rows; call again until it is 0 */
export async function forgetIncidents(tx: Tx, before: number, most: number): Promise<number> {
  const old = tx.selectFrom('site_incidents').select('id').where('ended_at', '<', before).limit(most)
  const { numDeletedRows } = await tx.deleteFrom('site_incidents').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Deletes what edges have said that have not reported since a time.
 * @returns how many rows; call again until it is 0
 */
export async function forgetEdges(tx: Tx, before: number, most: number): Promise<number> {
  const gone = await tx.selectFrom('monitoring_edges').select('edge').where('seen_at', '<', before).limit(1).execute()
  const [first] = gone
  if (!first) return 0
  const { edge } = first
  const some = tx
    .selectFrom('monitoring_states')
    .select('site_id')
    .where('edge', '=', edge)
    .orderBy('site_id')
    .limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('monitoring_states')
    .where('edge', '=', edge)
    .where('site_id', 'in', some)
    .executeTakeFirst()
  if (numDeletedRows > 0n) return Number(numDeletedRows)
  await tx.deleteFrom('monitoring_edges').where('edge', '=', edge).execute()
  return 1
}
