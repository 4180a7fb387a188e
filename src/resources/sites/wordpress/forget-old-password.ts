import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from './run-site-task.ts'

/**
 * Removes the old password from the site's object cache, after it was changed without the site's own code. The object
 * cache may be what is broken, so that the site cannot respond.
 */
export async function forgetOldPassword(
  { services, log }: Pick<StepContext<unknown, HostServices>, 'services' | 'log'>,
  siteId: number,
  { dropIn }: { readonly dropIn: boolean },
): Promise<void> {
  if (!dropIn) return
  await runSiteTask(services, siteId, 'flush-object-cache', {}).catch((error) =>
    log.warn({ err: error, siteId }, 'could not flush the object cache of a site after a password reset'),
  )
}
