import { frontPageFault } from '../../../hosting/php/front-page.ts'
import type { AddressChange } from '../../../hosting/site-database/database-content.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

/**
 * Rejects when the WordPress of a closed site cannot store something with its new content, or its front page does not answer. A redirect is an answer: of
 * a site in several languages, or one that is for members.
 * @param changes addresses of before, where the front page must not lead to
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
