import type { Selectable } from 'kysely'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import type { WebhookRow } from './tables.ts'
import type { Webhook } from './webhook.ts'

async function withSites(tx: Tx, rows: readonly Selectable<WebhookRow>[]): Promise<Webhook[]> {
  const chosen = rows.filter((row) => row.all_sites === 0).map(({ id }) => id)
  const sites = chosen.length > 0 ? await sitesOf(tx, chosen) : []
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types === null ? null : JSON.parse(row.event_types),
    siteIds:
      row.all_sites === 1 ? null : sites.filter((each) => each.webhook_id === row.id).map((each) => each.site_id),
    isEnabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    secretSealed: row.secret_sealed,
    oldSecretUntil: row.old_secret_until,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}

const sitesOf = (tx: Tx, ids: readonly number[]) =>
  tx
    .selectFrom('webhook_sites')
    .selectAll()
    .where('webhook_id', 'in', [...ids])
    .orderBy('site_id')
    .execute()

/** Returns the webhooks of an account, in order of id. */
export async function webhooksOfAccount(tx: Tx, accountId: number, page: RowsAsked): Promise<Webhook[]> {
  const query = tx.selectFrom('webhooks').selectAll().where('account_id', '=', accountId).orderBy('id')
  return withSites(tx, await rowsOfPage(query, page, { column: 'id', order: 'asc' }).execute())
}

export async function countWebhooks(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findWebhook(tx: Tx, accountId: number, id: number): Promise<Webhook | undefined> {
  const rows = await tx
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .execute()
  return (await withSites(tx, rows))[0]
}

/**
 * Returns a webhook and holds it. Until the transaction ends, no deliveries are created for it, and no attempt ends.
 */
export async function holdWebhook(tx: Tx, accountId: number, id: number): Promise<Webhook | undefined> {
  await lockForUpdate(tx, 'webhooks', id)
  return findWebhook(tx, accountId, id)
}

/** Returns the enabled webhooks of some accounts, held in order of id. */
export async function holdEnabledOf(tx: Tx, accountIds: readonly number[]): Promise<(Webhook & { fromSeq: number })[]> {
  const enabled = () =>
    tx
      .selectFrom('webhooks')
      .where('account_id', 'in', [...accountIds])
      .where('enabled', '=', 1)
      .orderBy('id')
  for (const { id } of await enabled().select('id').execute()) await lockForUpdate(tx, 'webhooks', id)
  const rows = await enabled().selectAll().execute()
  const webhooks = await withSites(tx, rows)
  return webhooks.map((webhook, index) => ({ ...webhook, fromSeq: rows[index]?.from_seq as number }))
}

export interface WebhookDraft {
  readonly url: string
  readonly description: string
  readonly eventTypes: readonly string[] | null
  readonly siteIds: readonly number[] | null
  readonly isEnabled: boolean
  readonly secretSealed: string
}

export async function insertWebhook(tx: Tx, accountId: number, draft: WebhookDraft, now: number): Promise<Webhook> {
  const row = await tx
    .insertInto('webhooks')
    .values({
      account_id: accountId,
      url: draft.url,
      description: draft.description,
      event_types: draft.eventTypes && JSON.stringify(draft.eventTypes),
      all_sites: draft.siteIds ? 0 : 1,
      enabled: draft.isEnabled ? 1 : 0,
      secret_sealed: draft.secretSealed,
      from_seq: await newestSeq(tx),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await setSites(tx, row.id, draft.siteIds)
  return (await withSites(tx, [row]))[0] as Webhook
}

/** @param change columns to change, without `siteIds` */
export async function changeWebhook(
  tx: Tx,
  id: number,
  change: Partial<Omit<WebhookRow, 'id'>>,
  siteIds?: readonly number[] | null,
): Promise<void> {
  const sites = siteIds === undefined ? {} : ({ all_sites: siteIds ? 0 : 1 } as const)
  await tx
    .updateTable('webhooks')
    .set({ ...change, ...sites })
    .where('id', '=', id)
    .execute()
  if (siteIds === undefined) return
  await tx.deleteFrom('webhook_sites').where('webhook_id', '=', id).execute()
  await setSites(tx, id, siteIds)
}

async function setSites(tx: Tx, id: number, siteIds: readonly number[] | null): Promise<void> {
  if (!siteIds?.length) return
  await tx
    .insertInto('webhook_sites')
    .values(siteIds.map((siteId) => ({ webhook_id: id, site_id: siteId })))
    .execute()
}

export async function deleteWebhookRow(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('webhooks').where('id', '=', id).execute()
}

/** Removes a site from webhooks. A webhook for only this site then receives nothing. */
export async function removeSiteFromWebhooks(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('webhook_sites').where('site_id', '=', siteId).execute()
}

/** Returns those of the sites that do not belong to the account. */
export async function foreignSites(tx: Tx, accountId: number, siteIds: readonly number[]): Promise<number[]> {
  const own = await tx
    .selectFrom('sites')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', 'in', [...siteIds])
    .where('deleted_at', 'is', null)
    .execute()
  const known = new Set(own.map(({ id }) => id))
  return siteIds.filter((id) => !known.has(id))
}

/** Returns the number of the newest event. */
export async function newestSeq(tx: Tx): Promise<number> {
  const { seq } = await tx.selectFrom('event_clock').select('seq').where('id', '=', 1).executeTakeFirstOrThrow()
  return seq
}

/** Deletes the webhooks of an account, with their deliveries. */
export async function deleteWebhooksOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('webhooks').where('account_id', '=', accountId).execute()
}

/**
 * Deletes the oldest events of an account, with their deliveries.
 * @returns how many. Call again until it is 0
 */
export async function deleteEventsOfAccount(tx: Tx, accountId: number, most: number): Promise<number> {
  const oldest = tx.selectFrom('events').select('id').where('account_id', '=', accountId).orderBy('id').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('events').where('id', 'in', oldest).executeTakeFirst()
  return Number(numDeletedRows)
}
