import { frontPageFault } from '../../hosting/php/front-page.ts'
import { PhpCrashed, PhpTaskError, PhpTimeout } from '../../hosting/php/runtime.ts'
import type { HostServices } from '../host-services.ts'

/** What a task says that WordPress has ended by itself, after it said all that it had to say. */
const ENDED = 'the site ended the task (exit)'

/**
 * What is wrong with a site's front page, in PHP's own words where it ends in an error; undefined when a visitor sees what the site has for him. WordPress
 * tells nobody of it.
 */
export async function frontFault(
  services: Pick<HostServices, 'hostedSite' | 'pool'>,
  siteId: number,
  options: { readonly whileHeld?: boolean } = {},
): Promise<string | undefined> {
  const hosted = await services.hostedSite(siteId)
  if (!hosted) return 'the site is not installed'
  try {
    const { status, bytes } = await services.pool.runTask(hosted, 'front-page', {}, options)
    if (status < 500 && (status !== 200 || bytes > 0)) return undefined
  } catch (error) {
    if (error instanceof PhpCrashed || error instanceof PhpTimeout) return error.message
    if (!(error instanceof PhpTaskError)) throw error
    if (error.message !== ENDED) return error.message
  }
  // a redirect, or a page of an own making
  return frontPageFault(services.pool, hosted, options)
}
