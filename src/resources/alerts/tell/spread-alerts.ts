import type { Tx } from '../../../platform/db/database.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { chatsOfAccount } from '../chat/chat.store.ts'
import { audienceOf } from './audience.store.ts'
import {
  BY_MAIL,
  dropUnsent,
  type FreshAlert,
  insertNotice,
  lastTold,
  receiver,
  takeFreshAlerts,
  toldOf,
} from './notice.store.ts'

/** Alerts of one transaction. */
const MOST = 50
/** A mail waits this long for other alerts. Things that fail together are in one mail. */
export const GATHER_MS = 30_000

/**
 * Writes notices for alerts that began or ended. Each person gets at most one message an hour that the same thing
 * began, and one that it ended.
 * @returns how many alerts; call again until it is 0
 */
export async function spreadAlerts(tx: Tx, now: number): Promise<number> {
  const fresh = await takeFreshAlerts(tx, MOST)
  for (const alert of fresh) await (alert.endedAt === null ? spreadBegin : spreadEnd)(tx, alert, now)
  return fresh.length
}

async function spreadBegin(tx: Tx, alert: FreshAlert, now: number): Promise<void> {
  const last = await lastTold(tx, alert, 'began', now)
  for (const accountId of await audienceOf(tx, alert.siteId)) {
    const rooms = (await chatsOfAccount(tx, accountId)).filter(({ kinds }) => kinds?.includes(alert.kind) ?? true)
    for (const chatId of [BY_MAIL, ...rooms.map(({ id }) => id)]) {
      const to = { accountId, chatId }
      await insertNotice(tx, { ...noticeOf(alert, 'began'), ...to, dueAt: dueAt(last.get(receiver(to)), now) })
    }
  }
}

/** Tells only people who know that it began. */
async function spreadEnd(tx: Tx, alert: FreshAlert, now: number): Promise<void> {
  await dropUnsent(tx, alert.id)
  const last = await lastTold(tx, alert, 'ended', now)
  for (const to of await toldOf(tx, alert.id))
    await insertNotice(tx, { ...noticeOf(alert, 'ended'), ...to, dueAt: dueAt(last.get(receiver(to)), now) })
}

const noticeOf = ({ id }: FreshAlert, event: 'began' | 'ended') => ({ alertId: id, event })

const dueAt = (last: number | undefined, now: number): number =>
  last === undefined ? now + GATHER_MS : Math.max(last + HOUR_MS, now + GATHER_MS)
