import { frontPageFault } from '../../hosting/php/front-page.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import type { HostServices } from '../host-services.ts'
import { runSiteTask } from '../sites/run-site-task.ts'
import { addressesOf, findSite } from '../sites/site.ts'

/**
 * Looks at a site that is closed for work and has just got other content: whether its WordPress can keep something, and what a visitor of its
 * front page would get. A redirect is an answer: of a site in several languages, or one that is for members.
 * @param sourceId the site that the content is of; its addresses must not be where the front page leads
 * @param refusal what is said before the reason
 * @throws PermanentFailure with the reason; PhpBusy, PhpTimeout, PhpCrashed
 */
export async function seeItAnswer(
  services: HostServices,
  { siteId, sourceId, refusal, signal }: { siteId: number; sourceId: number; refusal: string; signal: AbortSignal },
): Promise<void> {
  await runSiteTask(services, siteId, 'check-copy', {}, { whileHeld: true, refusal })
  const [hosted, source] = [await services.hostedSite(siteId), await findSite(services.database.read, sourceId)]
  if (!hosted || !source) throw new PermanentFailure('One of the two sites was deleted')
  const theirs = sourceId === siteId ? [] : await addressesOf(services.database.read, source, services.config)
  const others = theirs.filter((each) => each !== hosted.address)
  const fault = await frontPageFault(services.pool, hosted, { signal, whileHeld: true, others })
  if (fault) throw new PermanentFailure(`${refusal}: ${fault}`)
}
