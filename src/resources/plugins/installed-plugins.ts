import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import type { Context } from '../kit/context.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, type Site } from '../sites/site.ts'
import { lookAtPlugins } from './list-plugins.job.ts'
import { plannedPaths, storedPlugins } from './plugin.store.ts'
import { meantBy } from './plugin.ts'

type Asking = Pick<Context, 'database' | 'watches' | 'now'> & { readonly site: Site }

/**
 * Asks the WordPress of a site which plugins it has at this moment.
 * @throws Problem `site_not_live`, and those of {@link waitForOperation}
 */
export async function installedPlugins({ database, site, watches, now }: Asking): Promise<ListedPlugin[]> {
  requireInstalled(site)
  const id = await database.transaction((tx) => lookAtPlugins(tx, site, now))
  await waitForOperation({ watches, started: [id] })
  return storedPlugins(database.read, site.id)
}

/** Tells whether a path means a plugin that a site has, or has when its turn comes. */
export type IsInstalled = (path: string) => Promise<boolean>

/** Returns an {@link IsInstalled} that asks the site once, for the first path. An installation that is queued comes before what is asked for now. */
export function installedOn(context: Asking): IsInstalled {
  let known: Promise<{ plugins: ListedPlugin[]; planned: Set<string> }> | undefined
  const ask = async () => {
    // read first: what is installed meanwhile is in the list
    const planned = await plannedPaths(context.database.read, context.site.id)
    return { planned, plugins: await installedPlugins(context) }
  }
  return async (path) => {
    known ??= ask()
    const { plugins, planned } = await known
    return meantBy(plugins, path) !== undefined || planned.has(path)
  }
}
