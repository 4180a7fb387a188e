import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import type { DirectoryPlugin } from '../../hosting/plugin-directory/plugin-directory.ts'
import { FetchError } from '../../platform/fetch/fetch-public.ts'
import { Problem } from '../../platform/http/problem.ts'
import { type ReleaseTarget, releasesNow } from '../cms-version/public.ts'
import { extensionsOf } from '../inventory/public.ts'
import type { Context } from '../kit/context.ts'
import {
  findReleases,
  installedPlugins,
  isSlug,
  meantBy,
  type OrderedPlugin,
  problems as pluginProblems,
} from '../plugins/public.ts'
import type { Site } from '../sites/public.ts'
import { findCore } from './find-core.ts'
import { problems } from './problems.ts'
import type { SafeUpdateOrder } from './safe-update.ts'

type Asking = Context & { readonly site: Site }
export type Directories = Pick<Context, 'database' | 'config' | 'pluginDirectory'>

export interface WantedUpdates {
  /** `latest`, or a release of WordPress. */
  readonly core?: string
  readonly all?: boolean
  /** Limits `all` to these. */
  isWanted?(kind: 'plugin' | 'theme', name: string): boolean
  readonly plugins?: readonly { readonly path: string; readonly version?: string }[]
  readonly themes?: readonly { readonly name: string; readonly version?: string }[]
}

export type FoundUpdates = Pick<SafeUpdateOrder, 'plugins' | 'themes' | 'skipped' | 'core'>

/** The most plugins, and the most themes, of one update. The next one updates the others. */
const MOST_AT_ONCE = 50
const NOT_LISTED = 'the directory of WordPress does not list it'

/**
 * Finds out what to update, and where each release can be fetched.
 * @throws Problem `plugins_refused`, `themes_refused`, `nothing_to_update`, `plugin_directory_unavailable`, and those of
 * {@link findCore}
 */
export async function findUpdates(context: Asking, wanted: WantedUpdates): Promise<FoundUpdates> {
  const { site } = context
  const core =
    wanted.core === undefined ? undefined : findCore(site, wanted.core, (await releasesNow(context)).releases)
  return chooseUpdates(context, { siteId: site.id, core, installed: await installedPlugins(context) }, wanted)
}

interface InstalledOnSite {
  readonly siteId: number
  readonly installed: readonly ListedPlugin[]
  /** The release of WordPress that the site gets. */
  readonly core?: ReleaseTarget | undefined
}

/** Does the same with what Stead knows of the site. */
export async function chooseUpdates(
  context: Directories,
  { siteId, installed, core }: InstalledOnSite,
  wanted: WantedUpdates,
): Promise<FoundUpdates> {
  const isInstalled = async (path: string) => meantBy(installed, path) !== undefined
  const plugins = await findReleases(context, wanted.plugins ?? [], { allowsUrls: false, isInstalled })
  const known = (await extensionsOf(context.database.read, siteId)).filter(({ kind }) => kind === 'theme')
  const themes = await namedThemes(context, wanted.themes ?? [], new Set(known.map(({ slug }) => slug)))
  const skipped: string[] = []
  const { isWanted = () => true } = wanted
  if (wanted.all) {
    const due = (name: string, find: () => Promise<DirectoryPlugin | undefined>, into: OrderedPlugin[]) =>
      addDue({ name, find, into, skipped })
    for (const { name, update } of installed)
      if (update === 'available' && isWanted('plugin', name))
        await due(name, () => context.pluginDirectory.find(name), plugins)
    for (const { slug, update_version: version } of known)
      if (version !== null && isWanted('theme', slug))
        await due(slug, () => context.pluginDirectory.findTheme(slug), themes)
  }
  if (plugins.length + themes.length > 0 || core) return { plugins, themes, skipped, ...(core && { core }) }
  throw new Problem(problems.nothing_to_update, {})
}

/** Adds the newest release of something that has an update, unless the request names it. */
async function addDue({
  name,
  find,
  into,
  skipped,
}: {
  readonly name: string
  readonly find: () => Promise<DirectoryPlugin | undefined>
  readonly into: OrderedPlugin[]
  readonly skipped: string[]
}): Promise<void> {
  if (into.length >= MOST_AT_ONCE || into.some(({ path }) => path === name)) return
  const found = isSlug(name) ? await reached(find) : undefined
  if (found) into.push(release(name, found))
  else skipped.push(`${name}: ${NOT_LISTED}`)
}

async function namedThemes(
  { pluginDirectory }: Directories,
  wanted: NonNullable<WantedUpdates['themes']>,
  installed: ReadonlySet<string>,
): Promise<OrderedPlugin[]> {
  const faults: string[] = []
  const found: OrderedPlugin[] = []
  for (const { name, version } of wanted) {
    const shown = name.slice(0, 200)
    if (found.some(({ path }) => path === name)) faults.push(`${shown}: listed twice`)
    else if (!isSlug(name) || !installed.has(name)) faults.push(`${shown}: not installed`)
    else {
      const theme = await reached(() => pluginDirectory.findTheme(name))
      if (!theme) faults.push(`${shown}: ${NOT_LISTED}`)
      else if (version !== undefined && !theme.packages.has(version))
        faults.push(`${shown}: version ${version} does not exist, the latest is ${theme.version}`)
      else found.push(release(name, theme, version))
    }
  }
  if (faults.length === 0) return found
  const errors = faults.map((fault) => `themes: ${fault}.`)
  throw new Problem(problems.themes_refused, { faults: faults.join('; ') }, { errors })
}

const release = (path: string, { version: newest, packages }: DirectoryPlugin, version = newest): OrderedPlugin => ({
  ...{ path, version },
  package: { url: packages.get(version) as string, version },
})

async function reached(find: () => Promise<DirectoryPlugin | undefined>): Promise<DirectoryPlugin | undefined> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    throw new Problem(pluginProblems.plugin_directory_unavailable, { reason: error.message }, { cause: error })
  }
}
