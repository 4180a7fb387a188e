import type { TaskOptions } from '../../../hosting/php/pool/pool.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/** Blogs of a network to upgrade in one task, which fits well into its time limit. */
const BLOGS_AT_ONCE = 10
/**
 * Limit of blogs in a network. WordPress upgrades the others when their dashboards are first visited. A site's PHP must
 * not keep a host busy forever.
 */
const MOST_BLOGS = 10_000

interface Upgrading {
  readonly services: Pick<HostServices, 'hostedSite' | 'pool'>
  readonly signal: AbortSignal
  progress(fraction: number): void
}

/**
 * Upgrades the databases of a network's other blogs to the site's WordPress release. Does nothing for a site without a
 * network.
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
    // If a plugin answers in place of Stead, the loop must still end.
    if (last <= after) throw new PermanentFailure('Stead cannot list the sites of the network')
    after = last
    done += BLOGS_AT_ONCE
    progress(done / (done + left))
  }
}
