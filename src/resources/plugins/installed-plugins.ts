import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import type { Context } from '../kit/context.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, type Site } from '../sites/public.ts'
import { lookAtPlugins } from './list-plugins.job.ts'
import { plannedPaths, storedPlugins } from './plugin.store.ts'
import { meantBy } from './plugin.ts'

type Asking = Pick<Context, 'database' | 'watches' | 'now'> & { readonly site: Site }

/**
 * Returns the plugins that a site's WordPress has at this moment.
 * @throws Problem `site_not_live`, and those of {@link waitForOperation}
 */
export async function installedPlugins({ database, site, watches, now }: Asking): Promise<ListedPlugin[]> {
  requireInstalled(site)
  const id = await database.transaction((tx) => lookAtPlugins(tx, site, now))
  await waitForOperation({ watches, started: [id] })
  return storedPlugins(database.read, site.id)
}

/** Tells whether a path names a plugin that a site has, or will have when the operation runs. */
export type IsInstalled = (path: string) => Promise<boolean>

/**
 * Returns an {@link IsInstalled} that asks the site once, for the first path. A queued installation runs before the
 * requested operation.
 */
export function installedOn(context: Asking): IsInstalled {
  let known: Promise<{ plugins: ListedPlugin[]; planned: Set<string> }> | undefined
  const ask = async () => {
    // Read first, because plugins that are installed meanwhile are in the list.
    const planned = await plannedPaths(context.database.read, context.site.id)
    return { planned, plugins: await installedPlugins(context) }
  }
  return async (path) => {
    known ??= ask()
    const { plugins, planned } = await known
    return meantBy(plugins, path) !== undefined || planned.has(path)
  }
}
