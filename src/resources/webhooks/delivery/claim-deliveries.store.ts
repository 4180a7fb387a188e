import { sql } from 'kysely'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { databaseNow } from '../../../platform/operations/worker/lease.ts'
import { payloadOf } from '../event.store.ts'

/** Longer than an attempt takes. After it, the process that claimed the delivery is dead. */
export const DELIVERY_LEASE_MS = 30_000

/** Delivery that is due. */
export interface Due {
  readonly id: number
  readonly webhookId: number
  readonly accountId: number
  /** Whether nothing has arrived at its webhook lately. */
  readonly isFailing: boolean
}

/** Delivery that this process may send. */
export interface ClaimedDelivery {
  readonly id: number
  readonly webhookId: number
  readonly owner: string
  readonly attempts: number
  readonly url: string
  readonly secretSealed: string
  readonly oldSecretSealed: string | null
  readonly messageId: string
  readonly body: string
}

/** @param eachMost limit for each webhook */
export async function findDue(
  { read }: Database,
  { eachMost, most, without }: { eachMost: number; most: number; without: readonly number[] },
): Promise<Due[]> {
  const skipped = without.length > 0 ? sql`and d.webhook_id not in (${sql.join(without)})` : sql``
  const { rows } = await sql<{ id: number; webhook_id: number; account_id: number; is_failing: number }>`
    select id, webhook_id, account_id, is_failing from (
      select d.id, d.webhook_id, w.account_id, d.due_at,
        case when w.failing_since is null then 0 else 1 end as is_failing,
        row_number() over (partition by d.webhook_id order by d.due_at, d.id) as place
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.due_at is not null and d.due_at <= ${databaseNow(read)}
        and (d.lease_until is null or d.lease_until <= ${databaseNow(read)})
        ${skipped}
    ) as due where place <= ${eachMost} order by is_failing, due_at, id limit ${most}`.execute(read)
  return rows.map((row) => ({
    id: Number(row.id),
    webhookId: Number(row.webhook_id),
    accountId: Number(row.account_id),
    isFailing: Number(row.is_failing) === 1,
  }))
}

/** Claims deliveries. Omits those that another process claimed first. */
export async function claimDeliveries(tx: Tx, ids: readonly number[], owner: string): Promise<ClaimedDelivery[]> {
  const taken = await tx
    .updateTable('webhook_deliveries')
    .set({ lease_owner: owner, lease_until: sql<number>`${databaseNow(tx)} + ${DELIVERY_LEASE_MS}` })
    .where('id', 'in', [...ids])
    .where('due_at', 'is not', null)
    .where(({ or, eb }) => or([eb('lease_until', 'is', null), eb('lease_until', '<=', databaseNow(tx))]))
    .returning('id')
    .execute()
  if (taken.length === 0) return []
  const rows = await tx
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .leftJoin('events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.webhook_id', 'd.attempts', 'd.message_id', 'd.type', 'd.created_at', 'd.site_id'])
    .select(['w.url', 'w.account_id', 'w.secret_sealed', 'w.old_secret_sealed', 'w.old_secret_until'])
    .select(['e.data', 'e.created_at as happened_at', databaseNow(tx).as('now')])
    .where(
      'd.id',
      'in',
      taken.map(({ id }) => id),
    )
    .execute()
  return rows.map((row) => ({
    id: row.id,
    webhookId: row.webhook_id,
    owner,
    attempts: row.attempts,
    url: row.url,
    secretSealed: row.secret_sealed,
    oldSecretSealed: (row.old_secret_until ?? 0) > Number(row.now) ? row.old_secret_sealed : null,
    messageId: row.message_id,
    body: JSON.stringify(
      payloadOf({
        id: row.message_id,
        type: row.type,
        createdAt: row.happened_at ?? row.created_at,
        accountId: row.account_id,
        siteId: row.site_id,
        data: row.data === null ? { message: 'This is a test.' } : JSON.parse(row.data),
      }),
    ),
  }))
}

/** Releases unsent deliveries. */
export async function release(tx: Tx, owner: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner)
    .where('due_at', 'is not', null)
    .execute()
}
