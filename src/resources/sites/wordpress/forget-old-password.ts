import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from './run-site-task.ts'

/**
 * After a new password that was set without the site's own code: its own object cache knows the old one still. It may be what is
 * broken: then it answers nobody.
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
