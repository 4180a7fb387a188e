import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Budget, Share } from '../../platform/budgets/budget.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { FreeRoom } from '../../platform/files/free-room.ts'
import type { Hourly } from './hourly.ts'
import { MailFault } from './mail-headers.ts'
import type { Envelope, Handover, MailSite } from './message.ts'
import { MailFile, type MailQueue, type WaitingMail } from './queue.ts'

/** The largest mail without its headers: most mail servers accept this, including attachments in base64. */
export const MOST_MAIL_BYTES = 25 << 20
const MB = 1 << 20
/** The size that the smallest mail counts, for its two files and its state in memory. */
const BYTES_OF_RECORD = 8 << 10
const QUEUE_FULL = 'too many mails of this site, or of all sites, are waiting'
/** A site that sends nothing more of a mail within this time has died. */
const PATIENCE_MS = 60_000
const START = '{"ask":"mail'
/** The most mails of one site that arrive at the same time. Each of its processes writes one at a time. */
const MOST_AT_ONCE = 40

const Bytes = Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$' })
/** Identifies one of the mails of a site while they arrive. The site chooses it. */
const Key = Type.Optional(Type.String({ pattern: '^[0-9a-f]{1,32}$' }))
const piece = { data: Bytes, last: Type.Boolean(), key: Key }
const First = Type.Object({
  ask: Type.Literal('mail'),
  bytes: Type.Integer({ minimum: 0 }),
  to: Type.Optional(Bytes),
  subject: Type.Optional(Bytes),
  headers: Bytes,
  recipients: Type.Optional(Type.Array(Bytes, { maxItems: 1000 })),
  sender: Type.Optional(Bytes),
  ...piece,
})
const Next = Type.Object({ ask: Type.Literal('mail-data'), ...piece })

/** The site of a mail, and how to deliver it. */
export interface MailingSite extends MailSite {
  /** Whether mails are sent to people. */
  readonly isSent: boolean
}

export interface MailIntakeOptions {
  readonly queue: MailQueue
  /** Returns undefined for a site that may not send mails. */
  readonly siteById: (siteId: number) => Promise<MailingSite | undefined>
  /** Counts recipients. */
  readonly hourly: Hourly
  /** The budget for waiting mails on the disk. The receiver of {@link MailIntakeOptions.onTaken} must release it. */
  readonly disk: Budget
  readonly room: Pick<FreeRoom, 'hasRoomForRecords'>
  readonly onTaken: (mail: WaitingMail) => void
  readonly onRefused: () => void
  readonly log: { error(facts: object, message: string): void }
}

/** A mail that is arriving from PHP. */
interface Incoming {
  readonly id: string
  readonly key: string
  readonly site: MailingSite
  readonly envelope: Envelope
  readonly file: MailFile
  readonly share: Share
  readonly timer: NodeJS.Timeout
}

/**
 * A refusal with a message for the site's log. With `once`, the log gets only one an hour, because a site may cause
 * many.
 */
class Refusal extends Error {
  readonly once: boolean
  constructor(why: string, { once = false } = {}) {
    super(why)
    this.once = once
  }
}

/** Receives mails from sites in pieces (see `mail.php`), so that none is in memory as a whole. */
export class MailIntake {
  readonly #options: MailIntakeOptions
  /** By site and key, the oldest first. */
  readonly #incoming = new Map<number, Map<string, Incoming>>()
  readonly #last = new Map<number, Promise<void>>()
  /** The times when a site last got a refusal that repeats. */
  readonly #told = new Map<number, number>()

  constructor(options: MailIntakeOptions) {
    this.#options = options
  }

  /** @returns the answer for PHP, which is empty if the text is not a mail */
  async ask(siteId: number, text: string): Promise<string> {
    return text.startsWith(START) ? this.#inTurn(siteId, () => this.#answer(siteId, text)) : ''
  }

  /** Drops the mails that have not arrived completely. */
  async close(): Promise<void> {
    for (const [siteId, mails] of [...this.#incoming])
      for (const key of [...mails.keys()]) await this.#inTurn(siteId, () => this.#drop(siteId, key))
  }

  /** Runs one job at a time for a site. Its process may be replaced while a piece of the old one is being written. */
  async #inTurn<Result>(siteId: number, work: () => Promise<Result>): Promise<Result> {
    const mine = (this.#last.get(siteId) ?? Promise.resolve()).then(work)
    const ended = mine.then(
      () => {},
      () => {},
    )
    this.#last.set(siteId, ended)
    await ended
    if (this.#last.get(siteId) === ended) this.#last.delete(siteId)
    return mine
  }

  async #answer(siteId: number, text: string): Promise<string> {
    const said = parsed(text)
    const key = keyOf(said)
    try {
      await this.#take(siteId, key, said)
      return JSON.stringify({ ok: true })
    } catch (error) {
      await this.#drop(siteId, key)
      this.#options.onRefused()
      return JSON.stringify({ ok: false, ...this.#words(siteId, error) })
    }
  }

  async #take(siteId: number, key: string, said: unknown): Promise<void> {
    if (Value.Check(First, said)) {
      await this.#drop(siteId, key)
      await this.#begin(siteId, key, said)
    } else if (!Value.Check(Next, said)) throw new Refusal('it is not a mail')
    const { data, last } = said as { data: string; last: boolean }
    const incoming = this.#incoming.get(siteId)?.get(key)
    if (!incoming) throw new Refusal('its beginning is missing')
    incoming.timer.refresh()
    await this.#write(incoming, incoming.file.lines(Buffer.from(data, 'base64'), last))
    if (last) await this.#finish(incoming)
  }

  async #begin(siteId: number, key: string, said: Type.Static<typeof First>): Promise<void> {
    const { queue, room, siteById, hourly, disk } = this.#options
    if (said.bytes > MOST_MAIL_BYTES) throw new Refusal(`it is larger than ${MOST_MAIL_BYTES / MB} MB`)
    if (!room.hasRoomForRecords) throw new Refusal('the disk of the host is nearly full', { once: true })
    const site = await siteById(siteId)
    if (!site) throw new Refusal('the site is not there')
    // Loaded with the first mail, because most hosts get none for a long time.
    const { readMail } = await import('./message.ts')
    const id = `${siteId}-${randomUUID()}`
    const { head, envelope } = readMail(handoverOf(said), site, { id, now: Date.now() })
    const full = hourly.take(siteId, envelope.to.length)
    if (full) throw new Refusal(reached[full], { once: true })
    const share = disk.share(siteId)
    if (!share.take(BYTES_OF_RECORD)) throw new Refusal(QUEUE_FULL, { once: true })
    const file = await MailFile.create(queue.file(id)).catch((error) => {
      share.free()
      throw error
    })
    const timer = setTimeout(() => void this.#inTurn(siteId, () => this.#drop(siteId, key)), PATIENCE_MS).unref()
    const incoming = { id, key, site, envelope, file, share, timer }
    const mails = this.#incoming.get(siteId) ?? new Map<string, Incoming>()
    this.#incoming.set(siteId, mails.set(key, incoming))
    // A site with this many unfinished mails has died as often.
    if (mails.size > MOST_AT_ONCE) await this.#drop(siteId, [...mails.keys()][0] as string)
    await this.#write(incoming, head)
  }

  async #write({ file, share }: Incoming, bytes: Buffer): Promise<void> {
    if (file.bytes + bytes.length > MOST_MAIL_BYTES + MB) throw new Refusal('it is larger than it said')
    if (!share.take(bytes.length)) throw new Refusal(QUEUE_FULL, { once: true })
    await file.write(bytes)
  }

  async #finish({ id, key, site, envelope, file, share, timer }: Incoming): Promise<void> {
    const { queue, onTaken } = this.#options
    await file.finish()
    const takenAt = Date.now()
    const { siteId, isSent } = site
    const mail = { id, siteId, envelope, bytes: share.amount, takenAt, isKept: !isSent, attempts: 0, notBefore: 0 }
    await queue.put(mail)
    clearTimeout(timer)
    this.#forget(siteId, key)
    onTaken(mail)
  }

  #forget(siteId: number, key: string): void {
    const mails = this.#incoming.get(siteId)
    mails?.delete(key)
    if (mails?.size === 0) this.#incoming.delete(siteId)
  }

  async #drop(siteId: number, key: string): Promise<void> {
    const incoming = this.#incoming.get(siteId)?.get(key)
    if (!incoming) return
    this.#forget(siteId, key)
    clearTimeout(incoming.timer)
    await incoming.file.discard()
    incoming.share.free()
  }

  #words(siteId: number, error: unknown): { why: string; say: boolean } {
    if (error instanceof MailFault) return { why: error.message, say: true }
    if (error instanceof Refusal) return { why: error.message, say: !error.once || this.#isNew(siteId) }
    this.#options.log.error({ err: error, siteId }, 'a mail of a site could not be taken')
    return { why: 'the host could not take it', say: true }
  }

  #isNew(siteId: number): boolean {
    const now = performance.now()
    for (const [id, atMs] of this.#told) if (now - atMs >= HOUR_MS) this.#told.delete(id)
    if (this.#told.has(siteId)) return false
    this.#told.set(siteId, now)
    return true
  }
}

const reached = {
  each: 'the site has reached its limit of mails per hour (STEAD_SITE_MAILS_PER_HOUR; each recipient counts)',
  all: 'all sites of the host together have reached their limit of mails per hour (STEAD_HOST_MAILS_PER_HOUR)',
}

const keyOf = (said: unknown): string => (Value.Check(Type.Object({ key: Type.String() }), said) ? said.key : '')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function handoverOf({ to, subject, headers, recipients, sender }: Type.Static<typeof First>): Handover {
  const decoded = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text, 'base64'))
  return {
    to: decoded(to),
    subject: decoded(subject),
    headers: Buffer.from(headers, 'base64'),
    recipients: recipients?.map((each) => Buffer.from(each, 'base64').toString()),
    sender: decoded(sender)?.toString(),
  }
}
