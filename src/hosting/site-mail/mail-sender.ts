import type { Budget } from '../../platform/budgets/budget.ts'
import type { SiteOutbox } from './outbox.ts'
import type { MailQueue, WaitingMail } from './queue.ts'
import type { MailDelivery, RefusedRecipient } from './smtp-delivery.ts'

export interface MailSenderOptions {
  readonly queue: MailQueue
  /** Without it, all mails go to the outbox. */
  readonly delivery: MailDelivery | undefined
  readonly outbox: SiteOutbox
  readonly disk: Budget
  /** Writes to the site's log that a recipient will never get a mail. */
  readonly onFailed: (mail: WaitingMail, refused: readonly RefusedRecipient[]) => Promise<void>
  readonly log: { warn(facts: object, message: string): void }
  /** The first wait after a failed attempt. Each further one is three times as long. */
  readonly firstMs?: number
}

export interface MailFigures {
  readonly waiting: number
  readonly taken: number
  readonly sent: number
  readonly kept: number
  /** The number of recipients that will never get their mail. */
  readonly failed: number
  readonly refused: number
}

/**
 * The most connections to the mail server. Each site has one, so that the mails of one site do not delay those of
 * others.
 */
const AT_ONCE = 4
const MOST_WAIT_MS = 6 * 3600_000
/**
 * After this time, a mail has failed. RFC 5321 §4.5.4.1 asks for 4 to 5 days, but people expect to learn of it sooner.
 */
const GIVE_UP_MS = 48 * 3600_000

/** Sends mails of sites in order, and retries until they are sent or given up. */
export class MailSender {
  readonly counts = { taken: 0, sent: 0, kept: 0, failed: 0, refused: 0 }
  readonly #options: MailSenderOptions
  /** Sites in the order of their turns, each with its mails in order. */
  readonly #waiting = new Map<number, WaitingMail[]>()
  readonly #busy = new Map<number, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: MailSenderOptions) {
    this.#options = options
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((all, mails) => all + mails.length, 0)
  }

  /**
   * Adds the mails that were waiting when the host ended. Retries at once, because the restart may have fixed the
   * problem.
   */
  resume(mails: readonly WaitingMail[]): void {
    for (const mail of mails) {
      this.#options.disk.take(mail.siteId, mail.bytes)
      this.#add({ ...mail, notBefore: 0 })
    }
    this.#work()
  }

  /** Adds a mail that is in the queue, with its bytes counted. */
  take(mail: WaitingMail): void {
    this.counts.taken++
    this.#add(mail)
    this.#work()
  }

  /** Starts no further delivery, and waits for those in progress. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, graceMs)
    await Promise.race([Promise.allSettled(this.#busy.values()), late.promise])
    clearTimeout(timer)
    this.#options.delivery?.close()
  }

  #add(mail: WaitingMail): void {
    const mails = this.#waiting.get(mail.siteId) ?? []
    mails.push(mail)
    this.#waiting.set(mail.siteId, mails)
  }

  #work(): void {
    clearTimeout(this.#timer)
    let next = Number.POSITIVE_INFINITY
    for (const [siteId, mails] of this.#waiting) {
      if (this.#stopped || this.#busy.size >= AT_ONCE) return
      if (this.#busy.has(siteId)) continue
      const now = Date.now()
      const mail = mails.find(({ notBefore }) => isDue(notBefore, now))
      if (mail) this.#begin(mail)
      else for (const { notBefore } of mails) next = Math.min(next, notBefore - now)
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#work(), Math.max(next, 1)).unref()
  }

  #begin(mail: WaitingMail): void {
    const { siteId } = mail
    const done = this.#deal(mail)
      .catch((error) => {
        this.#options.log.warn(
          { err: error, siteId, mail: mail.id },
          'a mail of a site could not be dealt with; it is tried again',
        )
        return later(mail, this.#options.firstMs)
      })
      .then((left) => {
        this.#busy.delete(siteId)
        const mails = (this.#waiting.get(siteId) ?? []).flatMap((each) => (each !== mail ? [each] : left ? [left] : []))
        // Moves the site to the end, so that others get their turn.
        this.#waiting.delete(siteId)
        if (mails.length > 0) this.#waiting.set(siteId, mails)
        this.#work()
      })
    this.#busy.set(siteId, done)
  }

  /** @returns the part that is still to be sent */
  async #deal(mail: WaitingMail): Promise<WaitingMail | undefined> {
    const { queue, delivery, outbox } = this.#options
    const file = queue.file(mail.id)
    if (!delivery || mail.isKept) {
      await outbox.keep(mail, file)
      this.counts.kept++
      return this.#end(mail)
    }
    const { refused, isTaken } = await this.#send(delivery, mail, file)
    if (isTaken) this.counts.sent++
    const isOver = Date.now() - mail.takenAt >= GIVE_UP_MS
    const failed = refused.filter(({ isFinal }) => isFinal || isOver)
    if (failed.length > 0) {
      this.counts.failed += failed.length
      await this.#options.onFailed(mail, failed)
    }
    const to = refused.filter((each) => !failed.includes(each)).map(({ address }) => address)
    if (to.length === 0) return this.#end(mail)
    const left = later({ ...mail, envelope: { ...mail.envelope, to } }, this.#options.firstMs)
    await queue.put(left)
    return left
  }

  async #send(
    delivery: MailDelivery,
    mail: WaitingMail,
    file: string,
  ): Promise<{ refused: RefusedRecipient[]; isTaken: boolean }> {
    const { to } = mail.envelope
    try {
      const refused = await delivery.send(mail, file)
      return { refused, isTaken: refused.length < to.length }
    } catch (error) {
      const why = (error as Error).message
      this.#options.log.warn({ siteId: mail.siteId, mail: mail.id, why }, 'a mail of a site could not be sent for now')
      return { refused: to.map((address) => ({ address, why, isFinal: false })), isTaken: false }
    }
  }

  async #end(mail: WaitingMail): Promise<undefined> {
    await this.#options.queue.remove(mail.id)
    this.#options.disk.give(mail.siteId, mail.bytes)
    return undefined
  }
}

/** Ignores a time further away than the longest wait, because the clock was set back. */
const isDue = (notBefore: number, now: number): boolean => notBefore <= now || notBefore - now > MOST_WAIT_MS

function later(mail: WaitingMail, firstMs = 30_000): WaitingMail {
  const waitMs = Math.min(MOST_WAIT_MS, firstMs * 3 ** mail.attempts)
  return { ...mail, attempts: mail.attempts + 1, notBefore: Date.now() + waitMs }
}
