import type { Tx } from '../../platform/db/database.ts'
import { letter } from '../../platform/mail/letter.ts'
import { isOneMailbox } from '../../platform/mail/mail-address.ts'
import { countMail } from '../../platform/mail/mail-limit.ts'
import { enqueueMail } from '../../platform/mail/send-mail.job.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { findAccount } from '../account/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, openAfterFailure } from '../sites/public.ts'
import { actions } from './actions.ts'
import { lastFailureOf } from './failed-update.store.ts'
import { rememberThatItFailed } from './remember-failure.ts'
import { whyNotUpdated } from './security-release.ts'
import { type Order, replacement, updateDefinition } from './update-cms-version.job.ts'

/** Limit for each host, and only while no other work waits. */
const AT_ONCE = 2

/** The same update as a requested one, for a security release that nobody requested. */
export const updateBySchedule = durableWith<HostServices>()({
  name: 'site.update_cms_version_by_schedule',
  ...updateDefinition,
  atOnce: AT_ONCE,
  steps: { wanted: replacement.open({ run: requireWanted }), ...updateDefinition.steps },
  failed: tellOwner,
})

/**
 * Checks again whether the update is wanted, because the site, its account or the release may have changed since it was
 * planned, especially before a retry.
 */
async function requireWanted({ services, input }: StepContext<Order, HostServices>): Promise<void> {
  const reason = await whyNotUpdated(services.database.read, input)
  if (reason !== undefined) throw new PermanentFailure(reason)
}

async function tellOwner(tx: Tx, context: FailureContext<Order>): Promise<void> {
  const { input, canceled } = context
  const { siteId, version } = input
  const failure = await openAfterFailure(tx, context)
  if (!failure?.site || (await whyNotUpdated(tx, input)) !== undefined) return
  const { reason } = failure
  const before = await lastFailureOf(tx, siteId)
  const isFinal = await rememberThatItFailed(tx, context)
  if (canceled) return
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_failed'],
    message: `The automatic update to the WordPress security release ${version} failed: ${reason}`,
  })
  const isTold = before?.version === version && before.againAt === null
  if (isFinal && !isTold) await mailOwner(tx, context, reason)
}

async function mailOwner(tx: Tx, { input, operationId, now }: FailureContext<Order>, reason: string): Promise<void> {
  const site = await findSite(tx, input.siteId)
  const owner = site && (await findAccount(tx, site.accountId))
  if (!owner || !isOneMailbox(owner.email)) return
  const mail = letter(`${site.name}: WordPress ${input.version} could not be installed`, [
    `WordPress ${input.version} is a security release. Stead tried to install it on ${site.name}, but the update failed: ${reason}.`,
    `The site still runs WordPress ${site.coreVersion}. Stead does not retry this release automatically.`,
    `After you resolve the cause, retry the update with POST /v1/operations/${operationId}/retry, or install the latest release with PUT /v1/sites/${site.id}/cms/version.`,
  ])
  const about = { accountId: owner.id, to: owner.email, says: mail.subject, now: now() }
  if ((await countMail(tx, about)) === 'send') await enqueueMail(tx, { to: owner.email, ...mail }, { now: now() })
}
