import { ArchiveRefused } from '../../hosting/archives/unpack-zip.ts'
import type { ListedPlugin, TaskInput, TaskName, TaskOutput } from '../../hosting/php/tasks.ts'
import type { UnpackedPackage } from '../../hosting/plugin-directory/plugin-packages.ts'
import { stagePackage, stagingOf } from '../../hosting/plugin-directory/stage-package.ts'
import { contentPlace } from '../../hosting/site-database/database-content.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import { runSiteTask } from '../sites/public.ts'
import { type DatabaseErrors, firstFault, frontFault, innerFaults, newDatabaseErrors } from './front-fault.ts'
import { pluginsOf } from './list-plugins.job.ts'
import { type ActivePlugins, beginChange } from './plugin.store.ts'
import { isSlug, meantBy, type OrderedPlugin } from './plugin.ts'
import type { ChangeContext } from './take-back.ts'

/** A plugin's upgrade may change tables for a long time. */
const TASK_MS = 300_000

/** Result of a change that succeeded. */
export interface Changed {
  readonly outcome: 'installed' | 'updated' | 'activated' | 'deactivated' | 'deleted' | 'unchanged'
  /** Description for users. */
  readonly what: string
  /** Statements that the database refuses since the change. */
  readonly newErrors?: readonly string[]
}

/**
 * Changes one plugin of a site. If it fails, `takeBack` rolls back what it began.
 * @throws PermanentFailure, FetchError, ArchiveRefused, PhpCrashed, PhpTimeout with the reason, which may be shown
 */
export type PluginChanger = (context: ChangeContext, plugin: OrderedPlugin) => Promise<Changed>

/** Installs a plugin, or replaces another release of it, and activates it. */
export const install: PluginChanger = async (context, plugin) => {
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

export const update: PluginChanger = async (context, plugin) => {
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

export const activateOne: PluginChanger = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  if (isActive(known)) return { outcome: 'unchanged', what: `${named(known)} is already active` }
  await begin(context, plugin, { plugins, folder: null })
  const newErrors = await activate(context, known.file)
  return { outcome: 'activated', what: `Activated ${named(known)}`, newErrors }
}

export const deactivateOne: PluginChanger = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  if (!isActive(known)) return { outcome: 'unchanged', what: `${named(known)} is not active` }
  await begin(context, plugin, { plugins, folder: null })
  const { isActive: isStill } = await task(context, 'switch-plugin', { file: known.file, isActive: false })
  if (isStill) throw new PermanentFailure('another plugin activated it again')
  const newErrors = await requireAnswer(context)
  return { outcome: 'deactivated', what: `Deactivated ${named(known)}`, newErrors }
}

export const deleteOne: PluginChanger = async (context, plugin) => {
  const plugins = await pluginsOf(context.services, context.input.siteId)
  const known = requireInstalled(plugins, plugin)
  await begin(context, plugin, { plugins, folder: folderOf(known) })
  await task(context, 'delete-plugin', { file: known.file })
  const newErrors = await requireAnswer(context)
  return { outcome: 'deleted', what: `Deleted ${named(known)}`, newErrors }
}

const named = ({ name, version }: Pick<ListedPlugin, 'name' | 'version'>): string => `${name} ${version}`.trim()
/** Returns the name in lists: the folder, or the file if it has none. */
const nameOf = (file: string): string =>
  (file.includes('/') ? file.split('/', 1)[0] : file.replace(/\.php$/, '')) as string
const isActive = ({ status }: ListedPlugin): boolean => status === 'active' || status === 'active-network'
/** Returns the path below `wp-content/plugins`, which is the file itself if it has no folder. */
function folderOf({ file }: ListedPlugin): string {
  const folder = file.split('/', 1)[0] as string
  // The site reports this name, so it cannot be trusted.
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

/** Records the change before the site is changed. */
async function begin(
  { operationId, transaction }: ChangeContext,
  { path }: OrderedPlugin,
  { plugins, folder }: { readonly plugins: readonly ListedPlugin[]; readonly folder: string | null },
): Promise<void> {
  await transaction((tx) => beginChange(tx, operationId, { path, folder, before: activePlugins(plugins) }))
}

export async function withPackage<Result>(
  context: Pick<ChangeContext, 'services' | 'signal' | 'operationId'>,
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

/** Returns a folder name for an archive without a folder. */
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

/** Runs a task, in safe mode if the site was already broken, because this change may repair it. */
function task<Name extends ChangingTask & TaskName>(
  { services, input, results }: ChangeContext,
  name: Name,
  asked: Omit<TaskInput<Name>, 'isSafe'>,
): Promise<TaskOutput<Name>> {
  const given = { ...asked, isSafe: results.look.fault !== null } as unknown as TaskInput<Name>
  return runSiteTask(services, input.siteId, name, given, { timeoutMs: TASK_MS, refusal: 'WordPress says' })
}

/**
 * Checks that the site still responds, unless it did not respond before.
 * @returns the statements that the database refuses since the change
 * @throws PermanentFailure
 */
export async function requireAnswer({
  services,
  input,
  results,
}: Pick<ChangeContext, 'services' | 'input' | 'results'>): Promise<readonly string[]> {
  const { fault: before, inner, databaseErrors } = results.look
  if (before !== null) return []
  const { siteId } = input
  const ask = async (errors: DatabaseErrors) => {
    // An operation that an older Stead started does not know the earlier faults.
    const innerFault = async () => inner && firstFault(await innerFaults(services, siteId, inner, errors))
    const fault = (await frontFault(services, siteId, { errors })) ?? (await innerFault())
    if (fault !== undefined) throw new PermanentFailure(`it breaks the site: ${fault}`)
  }
  return newDatabaseErrors(ask, databaseErrors)
}
