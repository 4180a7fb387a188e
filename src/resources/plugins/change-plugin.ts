import { ArchiveRefused } from '../../hosting/archives/unpack-zip.ts'
import type { ListedPlugin, TaskInput, TaskName, TaskOutput } from '../../hosting/php/tasks.ts'
import type { UnpackedPackage } from '../../hosting/plugin-directory/plugin-packages.ts'
import { stagePackage, stagingOf } from '../../hosting/plugin-directory/stage-package.ts'
import { contentPlace } from '../../hosting/site-database/database-content.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import { runSiteTask } from '../sites/wordpress/run-site-task.ts'
import { type DatabaseErrors, firstOf, frontFault, innerFaults } from './front-fault.ts'
import { pluginsOf } from './list-plugins.job.ts'
import { type ActivePlugins, beginChange } from './plugin.store.ts'
import { isSlug, meantBy, type OrderedPlugin } from './plugin.ts'
import type { ChangeContext } from './take-back.ts'

/** A plugin's upgrade may do long work on tables. */
const TASK_MS = 300_000

/** What became of a plugin that nothing went wrong with. */
export interface Changed {
  readonly outcome: 'installed' | 'updated' | 'activated' | 'deactivated' | 'deleted' | 'unchanged'
  /** For people. */
  readonly what: string
  /** What the database has refused since then, and did not before. */
  readonly newErrors?: readonly string[]
}

/**
 * Does something with one plugin of a site. What it has begun before it failed, `takeBack` takes back.
 * @throws PermanentFailure, FetchError, ArchiveRefused, PhpCrashed, PhpTimeout with the reason, in words that may be shown
 */
export type Change = (context: ChangeContext, plugin: OrderedPlugin) => Promise<Changed>

/** New, or in place of another release of it; active in either case. */
export const install: Change = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = meantBy(plugins, plugin.path)
  if (known && plugin.package?.version === known.version) {
    if (isActive(known)) return { outcome: 'unchanged', what: `${named(known)} is already installed and active` }
    await begin(context, plugin, { plugins, folder: null })
    await activate(context, known.file)
    return { outcome: 'activated', what: `Activated ${named(known)}, which was already installed` }
  }
  const installed = await withPackage(context, plugin, async (found) => {
    const there = plugins.find((each) => each.file.startsWith(`${found.folder}/`))
    await begin(context, plugin, { plugins, folder: found.folder })
    return upgrade(context, plugin, { found, file: there?.file ?? null })
  })
  const { file, version } = installed
  const newErrors = installed.isActive ? await requireAnswer(context) : await activate(context, file)
  const from = isSlug(plugin.path) ? '' : ` from ${plugin.path}`
  return { outcome: 'installed', what: `Installed ${named({ name: nameOf(file), version })}${from}`, newErrors }
}

export const update: Change = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  if (plugin.package?.version === known.version)
    return { outcome: 'unchanged', what: `${named(known)} is already the requested version` }
  const folder = folderOf(known)
  const { version } = await withPackage(context, plugin, async (found) => {
    if (found.folder !== folder)
      throw new PermanentFailure(
        `its package contains the folder ${found.folder}, but the plugin is installed in ${folder}`,
      )
    await begin(context, plugin, { plugins, folder })
    return upgrade(context, plugin, { found, file: known.file })
  })
  const newErrors = await requireAnswer(context)
  return { outcome: 'updated', what: `Updated ${plugin.path} from ${known.version} to ${version}`, newErrors }
}

export const activateOne: Change = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  if (isActive(known)) return { outcome: 'unchanged', what: `${named(known)} is already active` }
  await begin(context, plugin, { plugins, folder: null })
  const newErrors = await activate(context, known.file)
  return { outcome: 'activated', what: `Activated ${named(known)}`, newErrors }
}

export const deactivateOne: Change = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  if (!isActive(known)) return { outcome: 'unchanged', what: `${named(known)} is not active` }
  await begin(context, plugin, { plugins, folder: null })
  const { isActive: isStill } = await task(context, 'switch-plugin', { file: known.file, isActive: false })
  if (isStill) throw new PermanentFailure('another plugin activated it again')
  const newErrors = await requireAnswer(context)
  return { outcome: 'deactivated', what: `Deactivated ${named(known)}`, newErrors }
}

export const deleteOne: Change = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  await begin(context, plugin, { plugins, folder: folderOf(known) })
  await task(context, 'delete-plugin', { file: known.file })
  const newErrors = await requireAnswer(context)
  return { outcome: 'deleted', what: `Deleted ${named(known)}`, newErrors }
}

const named = ({ name, version }: Pick<ListedPlugin, 'name' | 'version'>): string => `${name} ${version}`.trim()
/** As it is listed: its folder, or the file where it lies in none. */
const nameOf = (file: string): string =>
  (file.includes('/') ? file.split('/', 1)[0] : file.replace(/\.php$/, '')) as string
const isActive = ({ status }: ListedPlugin): boolean => status === 'active' || status === 'active-network'
/** Below `wp-content/plugins`: the file itself where it lies in no folder. */
function folderOf({ file }: ListedPlugin): string {
  const folder = file.split('/', 1)[0] as string
  // it is the site's word
  if (!isSlug(folder)) throw new PermanentFailure('the name of its folder is not allowed')
  return folder
}

function requireInstalled(plugins: readonly ListedPlugin[], { path }: OrderedPlugin): ListedPlugin {
  const known = meantBy(plugins, path)
  if (!known) throw new PermanentFailure('it is not installed')
  return known
}

function activePlugins(plugins: readonly ListedPlugin[]): ActivePlugins {
  const files = (status: ListedPlugin['status']) =>
    plugins.filter((each) => each.status === status).map(({ file }) => file)
  return { active: files('active'), network: files('active-network') }
}

/** From here on the site is changed. */
async function begin(
  { operationId, transaction }: ChangeContext,
  { path }: OrderedPlugin,
  { plugins, folder }: { readonly plugins: readonly ListedPlugin[]; readonly folder: string | null },
): Promise<void> {
  await transaction((tx) => beginChange(tx, operationId, { path, folder, before: activePlugins(plugins) }))
}

async function withPackage<Result>(
  context: ChangeContext,
  plugin: OrderedPlugin,
  use: (found: UnpackedPackage) => Promise<Result>,
): Promise<Result> {
  const { services, signal, operationId } = context
  const { url } = plugin.package as NonNullable<OrderedPlugin['package']>
  const key = `plugins-${operationId}`
  return services.pluginPackages.withPackage(key, { url, otherwise: folderName(url), signal }, (found) => {
    if (!isSlug(found.folder)) throw new ArchiveRefused('the name of the folder in the archive is not allowed')
    return use(found)
  })
}

/** For an archive that has no folder. */
function folderName(url: string): string {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? ''
  const name = last.replace(/\.zip$/i, '')
  return isSlug(name) ? name : 'plugin'
}

async function upgrade(
  context: ChangeContext,
  plugin: OrderedPlugin,
  { found, file }: { readonly found: UnpackedPackage; readonly file: string | null },
): Promise<TaskOutput<'upgrade-plugin'>> {
  const { services, operationId, signal, input } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site has no site directory on this host')
  await stagePackage(services, contentPlace(input.siteId, directory), found, { operationId, signal })
  const version = plugin.package?.version ?? null
  return task(context, 'upgrade-plugin', { source: stagingOf(operationId), file, version })
}

async function activate(context: ChangeContext, file: string): Promise<readonly string[]> {
  const { isActive: isNow } = await task(context, 'switch-plugin', { file, isActive: true })
  if (!isNow) throw new PermanentFailure('it, or another plugin, deactivated it immediately')
  return requireAnswer(context)
}

type ChangingTask = 'delete-plugin' | 'switch-plugin' | 'upgrade-plugin'

/** In safe mode where the site was broken before: this may be what mends it. */
function task<Name extends ChangingTask & TaskName>(
  { services, input, results }: ChangeContext,
  name: Name,
  asked: Omit<TaskInput<Name>, 'isSafe'>,
): Promise<TaskOutput<Name>> {
  const given = { ...asked, isSafe: results.look.fault !== null } as unknown as TaskInput<Name>
  return runSiteTask(services, input.siteId, name, given, { timeoutMs: TASK_MS, refusal: 'WordPress says' })
}

/**
 * A site that did not answer before need not do so now.
 * @returns what the database refuses now, and did not before
 * @throws PermanentFailure
 */
async function requireAnswer({ services, input, results }: ChangeContext): Promise<readonly string[]> {
  const { fault: before, inner, databaseErrors } = results.look
  if (before !== null) return []
  const { siteId } = input
  const ask = async (): Promise<readonly string[]> => {
    const errors: DatabaseErrors = new Set()
    // an operation that began with an older Stead does not know what was wrong before
    const innerFault = async () => inner && firstOf(await innerFaults(services, siteId, inner, errors))
    const fault = (await frontFault(services, siteId, { errors })) ?? (await innerFault())
    if (fault !== undefined) throw new PermanentFailure(`it breaks the site: ${fault}`)
    // nor what was refused before
    return databaseErrors ? [...errors].filter((error) => !databaseErrors.includes(error)) : []
  }
  // many plugins create their tables on the first page of wp-admin, and what is refused only until then is no fault
  return (await ask()).length > 0 ? ask() : []
}
