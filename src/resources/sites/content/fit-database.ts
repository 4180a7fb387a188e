import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { upgradeBlogs } from '../network/upgrade-blogs.ts'
import { hostOfUrl } from '../site.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/** Time limit for rewriting addresses in a large database, or upgrading it to another release. */
export const LONG_TASK_MS = 600_000

/**
 * Brings the tables of a closed site to the WordPress release that it runs, and to its address.
 * @param refusal error text when WordPress refuses
 */
export async function fitDatabase(
  context: StepContext<{ readonly siteId: number }, HostServices>,
  refusal: string,
): Promise<void> {
  const { services, input, signal, progress } = context
  const { siteId } = input
  const hosted = await services.hostedSite(siteId)
  if (!hosted) throw new PermanentFailure('The site was deleted')
  const options = { whileHeld: true, timeoutMs: LONG_TASK_MS, refusal }
  await runSiteTask(services, siteId, 'upgrade-database', {}, options)
  await upgradeBlogs({ services, signal, progress }, siteId, options)
  const { home: url } = await runSiteTask(services, siteId, 'site-title', {}, options)
  const from = hostOfUrl(url)
  if (from && from !== hosted.address)
    await runSiteTask(services, siteId, 'replace-address', { from, to: hosted.address }, options)
}
