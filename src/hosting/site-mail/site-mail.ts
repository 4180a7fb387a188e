import { join } from 'node:path'
import type { Budget } from '../../platform/budgets/budget.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { FreeRoom } from '../../platform/files/free-room.ts'
import { createLogIds } from '../../platform/log-store/log-ids.ts'
import type { LogStore } from '../../platform/log-store/log-store.ts'
import { phpRecord } from '../php-log/php-records.ts'
import { Hourly, type HourlyTerms } from './hourly.ts'
import { MailIntake, type MailingSite } from './intake.ts'
import { type MailFigures, MailSender } from './mail-sender.ts'
import { SiteOutbox } from './outbox.ts'
import { MailQueue, type WaitingMail } from './queue.ts'
import { type DkimKey, type RefusedRecipient, smtpDelivery } from './smtp-delivery.ts'

export interface SiteMailOptions {
  readonly dataDir: string
  readonly smtpUrl: string | undefined
  readonly dkim: DkimKey | undefined
  readonly perHour: HourlyTerms
  readonly siteById: (siteId: number) => Promise<MailingSite | undefined>
  readonly disk: Budget
  readonly room: Pick<FreeRoom, 'hasRoomForRecords'>
  /** Called with the number of recipients that will never get a mail of a site. */
  readonly onRefused?: (siteId: number, recipients: number, why: string) => Promise<void>
  /** The logs of the sites, which their owners read. */
  readonly logs: LogStore
  readonly log: { warn(facts: object, message: string): void; error(facts: object, message: string): void }
}

/** Passes mails of a host's sites from PHP's `mail()` to the mail server. */
export interface SiteMail {
  /** Answers a request of a site's PHP. The answer is empty if it is not a mail. */
  ask(siteId: number, text: string): Promise<string>
  metrics(): MailFigures
  stop(graceMs: number): Promise<void>
}

/** Opens the queue, and continues with the mails waiting in it. */
export async function openSiteMail(options: SiteMailOptions): Promise<SiteMail> {
  const { dataDir, smtpUrl, dkim, disk, log } = options
  const queue = new MailQueue(join(dataDir, 'mail-queue'))
  const outbox = new SiteOutbox(join(dataDir, 'outbox'))
  const delivery = smtpUrl ? smtpDelivery({ smtpUrl, dkim, folder: queue.folder }) : undefined
  const sender = new MailSender({ queue, delivery, outbox, disk, onFailed: tellOwner(options), log })
  const intake = new MailIntake({
    ...options,
    queue,
    hourly: new Hourly(options.perHour),
    onTaken: (mail) => sender.take(mail),
    onRefused: () => void sender.counts.refused++,
  })
  sender.resume(await queue.open())
  const sweep = () => outbox.sweep(Date.now()).catch((err) => log.warn({ err }, 'old mails could not be removed'))
  void sweep()
  const sweeping = setInterval(sweep, DAY_MS).unref()
  return {
    ask: (siteId, text) => intake.ask(siteId, text),
    metrics: () => ({ ...sender.counts, waiting: sender.waiting }),
    async stop(graceMs) {
      clearInterval(sweeping)
      await intake.close()
      await sender.stop(graceMs)
    },
  }
}

/** Writes a line to the site's PHP log for each recipient that will never get a mail. */
function tellOwner({ logs, log, onRefused }: SiteMailOptions) {
  const nextId = createLogIds()
  return async ({ siteId, envelope }: WaitingMail, refused: readonly RefusedRecipient[]): Promise<void> => {
    const records = refused.map(({ address, why }) => {
      const message = `mail(): the mail from ${envelope.from} to ${address} failed: ${why.replace(/\s+/g, ' ').slice(0, 500)}`
      return phpRecord({ siteId, atMs: Date.now(), id: nextId() }, { message, severity: 'User', file: '', line: -1 })
    })
    await logs
      .append('php', records)
      .catch((err) => log.warn({ err, siteId }, 'could not notify the owner of a site of a failed mail'))
    await onRefused?.(siteId, refused.length, reasonOf(refused))
  }
}

/** Returns the answer to the first recipient, in one line. */
const reasonOf = ([first]: readonly RefusedRecipient[]): string => (first?.why ?? '').replace(/\s+/g, ' ').slice(0, 200)
