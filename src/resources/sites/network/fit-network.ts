import type { PooledSite, TaskOptions } from '../../../hosting/php/pool/pool.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { changeWpConfig } from '../../../hosting/site-files/platform/wp-config-file.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'

/** A large network is read once for each domain. */
const TIME_MS = 600_000

interface FitOptions extends Omit<TaskOptions, 'timeoutMs'> {
  /** Whether the tables came from another site. If so, blogs with domains there become folders here. */
  readonly isCopy: boolean
  /** Other addresses that lead to that site, besides those that were rewritten while the tables were loaded. */
  readonly others: readonly string[]
}

/**
 * Changes the tables of a network from another site or another day to the site's address, and then wp-config.php. If
 * the two differ, WordPress does not load as a network at all.
 * @returns how many blogs became folders
 */
export async function fitNetwork(
  { pool }: Pick<HostServices, 'pool'>,
  site: PooledSite,
  { path, uid }: Pick<SiteDirectory, 'path' | 'uid'>,
  { isCopy, others, ...options }: FitOptions,
): Promise<number> {
  const { address } = site
  const input = { address, isCopy, others: [...others] }
  const { moved } = await pool
    .runTask(site, 'fit-network', input, { ...options, timeoutMs: TIME_MS })
    .catch((error: unknown) => {
      if (!(error instanceof PhpTaskError)) throw error
      throw new PermanentFailure(`The network cannot be moved to ${address}: ${error.message}`)
    })
  if (await changeWpConfig(path, uid, { DOMAIN_CURRENT_SITE: address })) await pool.restart(site.siteId)
  return moved
}
