import type { TaskOptions } from '../../../hosting/php/pool/pool.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/** Of a network, in one task: so many are upgraded well within its time. */
const BLOGS_AT_ONCE = 10
/** Of a network. WordPress upgrades what comes after them at the first visit of its dashboard; a site's PHP must not keep a host busy for ever. */
const MOST_BLOGS = 10_000

interface Upgrading {
  readonly services: Pick<HostServices, 'hostedSite' | 'pool'>
  readonly signal: AbortSignal
  progress(fraction: number): void
}

/**
 * Brings the databases of a network's other blogs to the release of WordPress that the site has; of a site that is no network there are none.
 * @throws as {@link runSiteTask}
 */
export async function upgradeBlogs(
  { services, signal, progress }: Upgrading,
  siteId: number,
  options: TaskOptions,
): Promise<void> {
  let after = 0
  let done = 0
  while (done < MOST_BLOGS) {
    signal.throwIfAborted()
    const refusal = 'The database of the network cannot be upgraded'
    const input = { after, most: BLOGS_AT_ONCE }
    const { last, left } = await runSiteTask(services, siteId, 'upgrade-blogs', input, { ...options, refusal })
    if (left === 0) return
    // what a plugin answers in its place ends as well
    if (last <= after) throw new PermanentFailure('Stead cannot list the sites of the network')
    after = last
    done += BLOGS_AT_ONCE
    progress(done / (done + left))
  }
}
