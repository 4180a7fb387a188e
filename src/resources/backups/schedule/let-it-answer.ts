import { frontPageFault } from '../../../hosting/php/front-page.ts'
import type { AddressChange } from '../../../hosting/site-database/database-content.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { closeForWork } from '../../sites/switches/close-for-work.ts'
import { runSiteTask } from '../../sites/wordpress/run-site-task.ts'

type Context = StepContext<{ readonly siteId: number }, HostServices>

/** What became the site's own by each kind of work. */
const words = { restore: 'restored', sync: 'synced', import: 'imported' } as const

interface Work {
  readonly name: keyof typeof words
  /** What became the site's own: its front page must not lead to what was there before. Undefined: nobody looks at it. */
  readonly changes: readonly AddressChange[] | undefined
}

/**
 * Visitors get a site that has other content now only when its WordPress can keep something and its front page answers. A redirect is an answer: of
 * a site in several languages, or one that is for members. An object cache of its own knows what was there before.
 * @throws PermanentFailure with the reason; PhpBusy, PhpTimeout, PhpCrashed
 */
export async function letItAnswer(context: Context, { name, changes }: Work): Promise<void> {
  const { services, input, signal, log } = context
  const { siteId } = input
  // after a crash nothing holds PHP
  await closeForWork(context, siteId)
  await runSiteTask(services, siteId, 'flush-object-cache', {}, { whileHeld: true }).catch((error) =>
    log.warn({ err: error, siteId }, `could not flush the object cache of a site after a ${name}`),
  )
  if (changes) {
    const refusal = `WordPress does not respond with the ${words[name]} content`
    await runSiteTask(services, siteId, 'check-copy', {}, { whileHeld: true, refusal })
    const hosted = await services.hostedSite(siteId)
    if (!hosted) throw new PermanentFailure('The site was deleted')
    const options = { signal, whileHeld: true, others: changes.map(({ from }) => from) }
    const fault = await frontPageFault(services.pool, hosted, options)
    if (fault) throw new PermanentFailure(`${refusal}: ${fault}`)
  }
  // nobody is let in before the site is open by its record
  services.pool.release(siteId)
}
