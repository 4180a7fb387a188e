import { frontPageFault } from '../../../hosting/php/front-page.ts'
import type { AddressChange } from '../../../hosting/site-database/database-content.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/**
 * Rejects when the WordPress of a closed site cannot store data with its new content, or its front page does not
 * respond. A redirect is a valid response, as on multilingual or members-only sites.
 * @param changes earlier addresses, which the front page must not lead to
 * @throws PermanentFailure with the reason; PhpBusy, PhpTimeout, PhpCrashed
 */
export async function verifyContent(
  context: StepContext<{ readonly siteId: number }, HostServices>,
  origin: 'restored' | 'synced' | 'imported',
  changes: readonly AddressChange[],
): Promise<void> {
  const { services, input, signal } = context
  const { siteId } = input
  const refusal = `WordPress does not respond with the ${origin} content`
  await runSiteTask(services, siteId, 'check-copy', {}, { whileHeld: true, refusal })
  const hosted = await services.hostedSite(siteId)
  if (!hosted) throw new PermanentFailure('The site was deleted')
  const options = { signal, whileHeld: true, others: changes.map(({ from }) => from) }
  const fault = await frontPageFault(services.pool, hosted, options)
  if (fault) throw new PermanentFailure(`${refusal}: ${fault}`)
}
