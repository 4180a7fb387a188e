import { randomUUID } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Log } from '../../../platform/log/log.ts'
import { AT_ONCE, choose, countsOf } from './choose.ts'
import { type ClaimedDelivery, claimDeliveries, type Due, findDue, release } from './claim-deliveries.store.ts'
import { handOut } from './hand-out.store.ts'
import { recordOutcome } from './record-outcome.ts'
import { sendDelivery } from './send-delivery.ts'

/** Retries become due without a notification. */
const LOOK_EVERY_MS = 1000
/** Minimum pause, even with many notifications. */
const LEAST_PAUSE_MS = 20

interface SenderOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly allowPrivate: boolean
  readonly log: Log
  /** Receives how each attempt ended. */
  readonly ended?: (isGood: boolean) => void
  readonly now?: () => number
}

/** Sends events to webhooks. Any number of processes may run it. */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #owner = randomUUID()
  readonly #underWay = new Map<number, Due>()
  readonly #sending = new Set<Promise<void>>()
  readonly #abort = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #endNotices: (() => void) | undefined
  #look: Promise<void> | undefined
  #isAwaited = false
  #isStopped = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Number of attempts in progress. */
  get underWay(): number {
    return this.#underWay.size
  }

  start(): void {
    this.#endNotices = this.#options.database.changes.subscribe('events', () => this.#wake())
    this.#wake()
  }

  /** Stops after running attempts have ended. Stead repeats an attempt that the grace time interrupts. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    this.#endNotices?.()
    clearTimeout(this.#timer)
    await this.#look
    const timer = setTimeout(() => this.#abort.abort(new Error('Stead is stopping')), graceMs)
    await Promise.all(this.#sending)
    clearTimeout(timer)
    await this.#options.database.transaction((tx) => release(tx, this.#owner)).catch(() => {})
  }

  #wake(inMs = 0): void {
    if (this.#isStopped) return
    if (this.#look) {
      this.#isAwaited = true
      return
    }
    const pause = Math.max(inMs, this.#lookedAt + LEAST_PAUSE_MS - performance.now())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#begin(), pause)
  }

  async #begin(): Promise<void> {
    if (this.#look) return
    this.#isAwaited = false
    this.#look = this.#lookOnce()
    await this.#look
    this.#look = undefined
    this.#lookedAt = performance.now()
    this.#wake(this.#isAwaited ? 0 : LOOK_EVERY_MS)
  }

  async #lookOnce(): Promise<void> {
    const { database, log } = this.#options
    try {
      while (!this.#isStopped && (await handOut(database)));
      const chosen = choose(await this.#due(), this.#underWay)
      if (chosen.length === 0 || this.#isStopped) return
      const ids = chosen.map(({ id }) => id)
      const claimed = await database.transaction((tx) => claimDeliveries(tx, ids, this.#owner))
      const byId = new Map(chosen.map((due) => [due.id, due]))
      for (const each of claimed) this.#send(each, byId.get(each.id) as Due)
    } catch (error) {
      log.warn({ err: error }, 'webhooks: polling failed and will be retried')
    }
  }

  #due(): Promise<Due[]> {
    const busy = [...countsOf(this.#underWay.values(), ({ webhookId }) => webhookId)].filter(
      ([, count]) => count >= AT_ONCE.webhook,
    )
    const without = busy.map(([id]) => id)
    return findDue(this.#options.database, { eachMost: AT_ONCE.webhook, most: 4 * AT_ONCE.all, without })
  }

  #send(claimed: ClaimedDelivery, due: Due): void {
    this.#underWay.set(claimed.id, due)
    const sending = this.#attempt(claimed).finally(() => {
      this.#underWay.delete(claimed.id)
      this.#sending.delete(sending)
      this.#wake()
    })
    this.#sending.add(sending)
  }

  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { database, sealer, allowPrivate, log, ended, now = Date.now } = this.#options
    try {
      const outcome = await sendDelivery(claimed, { sealer, allowPrivate, signal: this.#abort.signal })
      const isOurs = await database.transaction((tx) => recordOutcome(tx, claimed, outcome, now()))
      if (isOurs) ended?.(outcome.error === null)
    } catch (error) {
      // Its lease expires, and then it is sent again.
      if (!this.#abort.signal.aborted) log.warn({ err: error, delivery: claimed.id }, 'webhooks: attempt failed')
    }
  }
}
