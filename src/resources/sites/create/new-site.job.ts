import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { type FailureContext, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { aboutSite, changeBy, changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { measureSite } from '../../statistics/public.ts'
import { actions, events } from '../actions.ts'
import { changeSite, findSite, holdSite } from '../site.store.ts'
import type { Site } from '../site.ts'
import { configureSite } from '../switches/configure-site.job.ts'

/* The common part of the creation of a new site and of a clone. */

export type NewSiteContext<Results = unknown, Services extends HostServices = HostServices> = StepContext<
  { siteId: number },
  Services,
  Results
>

/** Statistics of a new site appear within a minute. */
const MEASURED_AFTER_MS = 20_000

/**
 * Records why a site could not be created, and what to do, in its row and its log. The site stays as it is.
 * @param message without a full stop
 */
export async function creationFailed(
  tx: Tx,
  context: FailureContext<{ siteId: number }>,
  message: string,
): Promise<void> {
  await changeSite(tx, context.input.siteId, { deployError: withEgress(message, context) }, context.now())
  if (context.canceled) return
  await changeOfJob(tx, context).record({ action: actions['site.deploy_failed'], message })
}

/** Appends what an owner can do about a site that was not created. */
const withEgress = (message: string, { operationId }: { operationId: number }) =>
  `${message.replace(/\.$/, '')}. To try again, send POST /v1/operations/${operationId}/retry. Or delete the site to free its place in the plan.`

/** Clears the error on a retry, so that the edge asks visitors to wait again. */
export async function clearDeployError(context: NewSiteContext, site: Site): Promise<void> {
  if (site.deployError !== null)
    await context.transaction((tx) => changeSite(tx, site.id, { deployError: null }, context.now()))
}

/** @throws PermanentFailure when it was deleted */
export async function siteOf({ services, input }: Pick<NewSiteContext, 'services' | 'input'>): Promise<Site> {
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  return site
}

export async function directoryOf({
  services,
  input,
}: Pick<NewSiteContext, 'services' | 'input'>): Promise<SiteDirectory> {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new Error('The site directory is missing')
  return directory
}

/**
 * Opens the site to visitors.
 * @param made the core that it runs, and the address in its database
 */
export async function becomeLive(
  tx: Tx,
  context: NewSiteContext,
  made: { readonly coreVersion: string; readonly address: string },
): Promise<void> {
  const { coreVersion, address } = made
  const site = await holdSite(tx, context.input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  const now = context.now()
  await changeSite(tx, site.id, { state: 'live', coreVersion, writtenAddress: address }, now)
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  for (const { live } of context.services.siteHooks) await live?.(tx, { ...site, state: 'live' }, change)
  // Its network is created once it serves pages.
  if (site.hasMultisite) await change.start(configureSite, { siteId: site.id })
  // Outside the site's own queue, so that it does not delay the first visitors.
  await enqueue(tx, measureSite, { siteId: site.id }, { hostId: site.hostId, afterMs: MEASURED_AFTER_MS })
  const event = { type: events.site_created, data: { name: site.name } }
  await change.record({ action: actions['site.deployed'], message: `Site ${site.name} is live`, event })
}

/** Rolls back all that the steps did, including PHP that runs in the site directory. */
export async function removeDirectory(context: Pick<NewSiteContext, 'services' | 'input'>): Promise<void> {
  const { services, input } = context
  await services.pool.stop(input.siteId, 0)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) return
  await services.spares.take(directory.id)
  await services.siteDirectories.remove(directory)
}
