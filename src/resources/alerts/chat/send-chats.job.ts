import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { FetchError } from '../../../platform/fetch/fetch-public.ts'
import { postPublic } from '../../../platform/fetch/post-public.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { panelAddress } from '../../kit/panel-address.ts'
import { mutesOfAccount } from '../mute.store.ts'
import { isMuted } from '../mute.ts'
import { type DueNotice, dropNoticesOfChat, dueNotices, endNotices, stillSeen } from '../tell/notice.store.ts'
import { changeChat, takeChat } from './chat.store.ts'
import { type AlertChat, CHAT_PURPOSE } from './chat.ts'
import { chatBody, chatText, TEST_MESSAGE } from './chat-message.ts'

/** Between two messages to one room. The next one has all alerts of this time. */
export const CHAT_PAUSE_MS = MINUTE_MS
const ATTEMPT_MS = 10_000
/** Longer than an attempt takes. Then another process may try, if this one has died. */
const LEASE_MS = 2 * MINUTE_MS
const AT_ONCE = 8
/** After this time of failures, messages are dropped until one arrives: nobody reads them in time. */
const GIVE_UP_MS = DAY_MS
const MOST = 200

interface Sending {
  readonly database: Database
  readonly config: Config
  readonly sealer: Sealer
}

type Context = StepContext<unknown, Sending>

/** Sends alerts to rooms of chat programs. A crash after the answer of the chat program sends a message again. */
export const sendChats = durableWith<Sending>()({
  name: 'alerts.chat',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { send: { run: sendAll } },
})

async function sendAll(context: Context): Promise<void> {
  const { transaction, signal, now } = context
  let after = 0
  const work = async () => {
    for (;;) {
      signal.throwIfAborted()
      const chat = await transaction((tx) => takeChat(tx, after, now(), now() + LEASE_MS))
      if (!chat) return
      after = Math.max(after, chat.id)
      await sendTo(context, chat)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function sendTo({ services, transaction, signal, now }: Context, chat: AlertChat): Promise<void> {
  const notices = await transaction((tx) => noticesFor(tx, chat, now()))
  if (notices.length === 0 && chat.testAt === null)
    return transaction((tx) => changeChat(tx, chat.id, { next_at: now() }))
  const text = notices.length > 0 ? chatText(notices, panelAddress(services.config)) : TEST_MESSAGE
  const url = services.sealer.open(chat.urlSealed, CHAT_PURPOSE)
  const fault = await post(url, text, { allowPrivate: services.config.allowPrivateFetch, signal })
  await transaction((tx) => recordChat(tx, chat, notices, { fault, now: now() }))
}

/** Returns why a message did not arrive. */
async function post(
  url: string,
  text: string,
  options: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): Promise<string | null> {
  const headers = { 'content-type': 'application/json' }
  const request = { ...options, headers, body: chatBody(url, text), timeoutMs: ATTEMPT_MS, startBytes: 0 }
  try {
    const { status } = await postPublic(url, request)
    return status >= 200 && status < 300 ? null : `The chat program answered with status ${status}.`
  } catch (error) {
    if (options.signal.aborted || !(error instanceof FetchError)) throw error
    // The message could contain the address, which is secret.
    return `${new URL(url).host} could not be reached.`
  }
}

/** Returns what is due for a room, and drops what its account has muted or no longer sees. */
async function noticesFor(tx: Tx, chat: AlertChat, now: number): Promise<DueNotice[]> {
  const about = { accountId: chat.accountId, chatId: chat.id }
  const due = await dueNotices(tx, { ...about, now, most: MOST })
  const mutes = await mutesOfAccount(tx, chat.accountId, now)
  const seen = await stillSeen(tx, chat.accountId, due)
  const wanted = seen.filter((each) => !isMuted(mutes, each, now))
  await endNotices(
    tx,
    about,
    due.filter((each) => !wanted.includes(each)),
    null,
  )
  return wanted
}

async function recordChat(
  tx: Tx,
  chat: AlertChat,
  notices: readonly DueNotice[],
  { fault, now }: { readonly fault: string | null; readonly now: number },
): Promise<void> {
  const about = { accountId: chat.accountId, chatId: chat.id }
  if (fault === null) {
    await endNotices(tx, about, notices, now)
    const good = { failing_since: null, fault: null, sent_at: now, test_at: null, next_at: now + CHAT_PAUSE_MS }
    return changeChat(tx, chat.id, good)
  }
  const since = Math.min(chat.failingSince ?? now, now)
  if (now - since >= GIVE_UP_MS) await dropNoticesOfChat(tx, chat.id)
  const pauseMs = Math.min(HOUR_MS, Math.max(CHAT_PAUSE_MS, (now - since) / 4))
  await changeChat(tx, chat.id, { failing_since: since, fault, test_at: null, next_at: now + pauseMs })
}

export const sendChatsOften = schedule({
  name: 'alerts.chat',
  everyMs: 30_000,
  definition: sendChats,
  input: () => ({}),
})
