import { sql } from 'kysely'
import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { letter } from '../../../platform/mail/letter.ts'
import { countMail } from '../../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../../platform/mail/send-mail.job.ts'
import { databaseNow } from '../../../platform/operations/worker/lease.ts'
import { actions, findAccount } from '../../account/public.ts'
import { changeBy } from '../../kit/change.ts'
import { changeWebhook } from '../webhook.store.ts'
import type { ClaimedDelivery } from './claim-deliveries.store.ts'
import { giveUpAll } from './delivery.store.ts'
import { moveUp } from './hand-out.store.ts'
import { retryDelay } from './retry.ts'
import type { AttemptOutcome } from './send-delivery.ts'

/** A webhook at which nothing has arrived for this long is disabled. */
export const PATIENCE_MS = 5 * 86_400_000

const GONE = 410

/**
 * Records the result of an attempt and its consequences: the next attempt, the next event of the line, or disabling the
 * webhook.
 * @returns false, and writes nothing, when the delivery no longer belongs to this process
 */
export async function recordOutcome(
  tx: Tx,
  claimed: ClaimedDelivery,
  outcome: AttemptOutcome,
  now: number,
): Promise<boolean> {
  await lockForUpdate(tx, 'webhooks', claimed.webhookId)
  const row = await tx
    .selectFrom('webhook_deliveries')
    .select(['line', 'event_id', 'attempts'])
    .where('id', '=', claimed.id)
    .where('lease_owner', '=', claimed.owner)
    .executeTakeFirst()
  if (!row) return false
  const isGood = outcome.error === null
  const isTest = row.event_id === null
  const attempts = row.attempts + 1
  await recordAttempt(tx, claimed.id, attempts, outcome)
  const delay = isGood || isTest || outcome.status === GONE ? undefined : retryDelay(attempts, outcome.retryAfterMs)
  await tx
    .updateTable('webhook_deliveries')
    .set({ attempts, lease_owner: null, lease_until: null })
    .set(
      delay === undefined
        ? { state: isGood ? 'delivered' : 'failed', due_at: null, finished_at: now }
        : { due_at: sql<number>`${databaseNow(tx)} + ${delay}` },
    )
    .where('id', '=', claimed.id)
    .execute()
  if (delay === undefined && row.line !== null) await moveUp(tx, claimed.webhookId, row.line)
  if (isGood || !isTest) await noteHealth(tx, claimed.webhookId, outcome, now)
  return true
}

async function recordAttempt(tx: Tx, id: number, number: number, outcome: AttemptOutcome): Promise<void> {
  await tx
    .insertInto('webhook_attempts')
    .values({
      delivery_id: id,
      number,
      started_at: outcome.startedAt,
      duration_ms: outcome.durationMs,
      status: outcome.status,
      answer: outcome.answer,
      error: outcome.error,
    })
    .execute()
}

async function noteHealth(tx: Tx, id: number, outcome: AttemptOutcome, now: number): Promise<void> {
  const webhook = await tx
    .selectFrom('webhooks')
    .select(['id', 'account_id', 'url', 'enabled', 'failing_since'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const since = webhook.failing_since
  if (outcome.error === null) {
    if (since !== null) await changeWebhook(tx, id, { failing_since: null })
    return
  }
  if (since === null) await changeWebhook(tx, id, { failing_since: now })
  if (webhook.enabled === 0) return
  const about = { id, accountId: webhook.account_id, url: webhook.url }
  if (outcome.status === GONE) await disable(tx, about, 'The receiver responded with status 410 (Gone).', now)
  else if (since !== null && now - since >= PATIENCE_MS)
    await disable(tx, about, 'No event has arrived for five days.', now)
}

interface Subject {
  readonly id: number
  readonly accountId: number
  readonly url: string
}

async function disable(tx: Tx, { id, accountId, url }: Subject, reason: string, now: number): Promise<void> {
  await changeWebhook(tx, id, { enabled: 0, disabled_reason: reason, updated_at: now })
  await giveUpAll(tx, id, now)
  const change = changeBy(tx, { actor: 'systems', about: { accountId }, now })
  const { host } = new URL(url)
  await change.record({ action: actions.settings, message: `Disabled the webhook ${id} (${host}): ${reason}` })
  const to = (await findAccount(tx, accountId))?.email
  if (to === undefined) return
  const subject = `A webhook was disabled: ${host}`
  const paragraphs = [
    `Stead has disabled the webhook ${id}, which sends events to ${host}. ${reason}`,
    'When the receiver works again, enable the webhook. GET /v1/events returns the events of the last 30 days.',
    { panel: '/account/webhooks' },
  ]
  const mail = letter(subject, paragraphs)
  const says = [subject, mail.text].join('\n')
  if ((await countMail(tx, { accountId, to, says, now })) === 'send') await enqueueMail(tx, { to, ...mail }, { now })
}
