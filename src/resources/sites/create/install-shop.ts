import { ArchiveRefused } from '../../../hosting/archives/unpack-zip.ts'
import type { PooledSite } from '../../../hosting/php/pool/pool.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import { stagePackage, stagingOf } from '../../../hosting/plugin-directory/stage-package.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { FetchError } from '../../../platform/fetch/fetch-public.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'

const SLUG = 'woocommerce'
/** WooCommerce creates its tables and pages in this time. */
const TASK_MS = 300_000

/**
 * Turns a new site into a shop. Installs the newest WooCommerce of the plugin directory with WordPress' own upgrader,
 * activates it, and creates its pages. A second call repeats this over what exists.
 * @throws PermanentFailure with the reason why it cannot be installed or does not work
 */
export async function installShop(
  context: Pick<StepContext<unknown, HostServices>, 'services' | 'operationId' | 'signal'>,
  site: PooledSite,
  directory: SiteDirectory,
): Promise<void> {
  const { services, operationId, signal } = context
  const { pool, pluginDirectory, pluginPackages } = services
  try {
    const plugin = await pluginDirectory.find(SLUG, signal)
    const url = plugin?.packages.get(plugin.version)
    if (!url) throw new PermanentFailure('the plugin directory does not list it')
    const order = { url, otherwise: SLUG, signal }
    const { file } = await pluginPackages.withPackage(`shop-${operationId}`, order, async (found) => {
      const place = { siteId: site.siteId, siteDirectory: directory.path, uid: directory.uid }
      await stagePackage(services, place, found, { operationId, signal })
      const asked = { source: stagingOf(operationId), file: null, version: null, isSafe: false }
      return pool.runTask(site, 'upgrade-plugin', asked, { timeoutMs: TASK_MS })
    })
    await pool.runTask(site, 'switch-plugin', { file, isActive: true, isSafe: false }, { timeoutMs: TASK_MS })
    await pool.runTask(site, 'make-shop-pages', {}, { timeoutMs: TASK_MS })
  } catch (error) {
    const isForGood = [PermanentFailure, FetchError, ArchiveRefused, PhpTaskError].some((kind) => error instanceof kind)
    throw isForGood ? new PermanentFailure(`WooCommerce cannot be installed: ${(error as Error).message}`) : error
  }
}
