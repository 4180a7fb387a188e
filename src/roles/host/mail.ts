import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import { mailingSite } from '../../hosting/site-mail/mailing-site.store.ts'
import { openSiteMail, type SiteMail } from '../../hosting/site-mail/site-mail.ts'
import type { DkimKey } from '../../hosting/site-mail/smtp-delivery.ts'
import type { Budgets } from '../../platform/budgets/budget.ts'
import { orLastKnown } from '../../platform/db/last-known.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { ProcessContext } from '../process-context.ts'
import { SiteFaults } from './site-faults.ts'

/**
 * Opens the mail of sites, according to the settings.
 * @throws OperatorError
 */
export async function openMail(
  context: Pick<ProcessContext, 'config' | 'database' | 'logs' | 'log' | 'room'>,
  { siteMails }: Budgets<'siteMails'>,
): Promise<SiteMail> {
  const { config, database, logs, log, room } = context
  const faults = new SiteFaults(context)
  const { dataDir, smtpUrl, siteMailsPerHour: each, hostMailsPerHour: all, stagingMails } = config
  return openSiteMail({
    dataDir,
    smtpUrl,
    dkim: await dkimKey(config),
    perHour: { each, all },
    // A form that a visitor sends while the database is away keeps its mail.
    siteById: orLastKnown(async (siteId: number) => {
      const site = await mailingSite(database.read, siteId)
      return site && { ...site, isSent: site.isProduction || stagingMails === 'send' }
    }),
    disk: siteMails,
    onRefused: (siteId, recipients, why) =>
      faults.count('mail_bouncing', siteId, recipients, `Mail servers refuse its mails. The last answer: ${why}`),
    room,
    logs,
    log,
  })
}

/**
 * @throws OperatorError for an unusable key: mails would be sent unsigned, and the operator would not know why
 * receivers reject them
 */
export async function dkimKey({
  dkimDomain,
  dkimSelector,
  dkimKeyFile,
}: Pick<Config, 'dkimDomain' | 'dkimSelector' | 'dkimKeyFile'>): Promise<DkimKey | undefined> {
  if (!dkimDomain && !dkimKeyFile) return undefined
  if (!dkimDomain || !dkimKeyFile)
    throw new OperatorError('Set STEAD_DKIM_DOMAIN and STEAD_DKIM_KEY_FILE together. One of them is missing.')
  try {
    const privateKey = await readFile(dkimKeyFile, 'utf8')
    createPrivateKey(privateKey)
    return { domainName: dkimDomain, keySelector: dkimSelector, privateKey }
  } catch (error) {
    throw new OperatorError(
      `STEAD_DKIM_KEY_FILE (${dkimKeyFile}) does not contain a private key: ${(error as Error).message}`,
    )
  }
}
