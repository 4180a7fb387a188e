import type { Tx } from '../../platform/db/database.ts'
import { timestamp } from '../../platform/http/schemas.ts'

/** Event as receivers see it. */
export interface EventView {
  /** Public id, the same in every attempt and in the feed. It never changes. */
  readonly id: string
  /** In the order of commits. */
  readonly seq: number
  readonly rowId: number
  readonly accountId: number
  readonly siteId: number | null
  readonly type: string
  readonly data: unknown
  readonly createdAt: number
}

interface Asked {
  /** Only events of this account. */
  readonly accountId?: number
  readonly types?: readonly string[] | undefined
  readonly siteId?: number | undefined
  /** Events after this one, or `before` it with the newest first. */
  readonly after?: number
  readonly before?: number
  readonly limit: number
}

export const eventId = (seq: number, mark: string): string => `evt_${seq}_${mark}`

/** @returns the number of an event by its id, or undefined for an invalid id */
export function seqOf(id: string): number | undefined {
  const [, seq] = /^evt_(\d{1,15})_[0-9a-f]*$/.exec(id) ?? []
  return seq === undefined ? undefined : Number(seq)
}

/**
 * Returns events in the order of commits, oldest first unless `before` is given. Readers that continue after the last
 * one miss none.
 */
export async function readEvents(tx: Tx, asked: Asked): Promise<EventView[]> {
  let query = tx.selectFrom('events').selectAll().where('seq', 'is not', null)
  if (asked.accountId !== undefined) query = query.where('account_id', '=', asked.accountId)
  if (asked.types) query = query.where('type', 'in', [...asked.types])
  if (asked.siteId !== undefined) query = query.where('site_id', '=', asked.siteId)
  if (asked.after !== undefined) query = query.where('seq', '>', asked.after)
  if (asked.before !== undefined) query = query.where('seq', '<', asked.before)
  const rows = await query
    .orderBy('seq', asked.before === undefined ? 'asc' : 'desc')
    .limit(asked.limit)
    .execute()
  return rows.map((row) => ({
    id: eventId(row.seq as number, row.mark),
    seq: row.seq as number,
    rowId: row.id,
    accountId: row.account_id,
    siteId: row.site_id,
    type: row.type,
    data: JSON.parse(row.data),
    createdAt: row.created_at,
  }))
}

/** Returns the payload for receivers. */
export const payloadOf = (event: Pick<EventView, 'id' | 'type' | 'createdAt' | 'accountId' | 'siteId' | 'data'>) => ({
  id: event.id,
  type: event.type,
  timestamp: timestamp(event.createdAt),
  account_id: event.accountId,
  site_id: event.siteId,
  data: event.data,
})
