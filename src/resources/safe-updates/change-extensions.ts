import { stagePackage, stagingOf } from '../../hosting/plugin-directory/stage-package.ts'
import { contentPlace } from '../../hosting/site-database/database-content.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { forgetResult, recordResults } from '../../platform/operations/results.ts'
import type { CreatedUndoPoint } from '../backups/public.ts'
import type { HostServices } from '../kit/host-services.ts'
import {
  databaseWarning,
  endChange,
  frontFault,
  isPluginsFault,
  isSlug,
  listSoon,
  type lookFirst,
  meantBy,
  type OrderedPlugin,
  requireAnswer,
  restorePaths,
  takeBack,
  update,
  withPackage,
} from '../plugins/public.ts'
import { holdSite, purgeCaches, requireDirectory, runSiteTask } from '../sites/public.ts'
import { type Changing, changingOf, setChanging } from './safe-update.store.ts'
import type { SafeUpdateOrder, UpdatedItem } from './safe-update.ts'

/** An upgrade may change tables for a long time. */
const TASK_MS = 300_000

interface Results {
  look: Awaited<ReturnType<typeof lookFirst>>
  keep_files?: CreatedUndoPoint | null
  keep_database?: CreatedUndoPoint | null
}
export type UpdateContext = StepContext<SafeUpdateOrder, HostServices, Results>
type Undoing = StepContext<SafeUpdateOrder, HostServices, Partial<Results>>

/** What the step of the update leaves for the comparison. */
export interface Updated {
  readonly items: readonly UpdatedItem[]
  readonly warning?: string
}

/**
 * Updates one plugin and theme after the other. Those that WordPress refuses, or that break the site at once, are
 * rolled back alone.
 * @throws PermanentFailure when none was updated, and WordPress stays as it is, too
 */
export async function updateAll(context: UpdateContext): Promise<Updated> {
  const { input, operationId, signal, progress } = context
  // Only WordPress is updated.
  if (input.plugins.length + input.themes.length === 0) return { items: [], ...skippedOf(input) }
  // An interrupted update begins again with the site as it was.
  await undoAll(context)
  const versions = await beginChanges(context)
  const items: UpdatedItem[] = []
  const all = [
    ...input.plugins.map((each) => ({ kind: 'plugin' as const, each })),
    ...input.themes.map((each) => ({ kind: 'theme' as const, each })),
  ]
  for (const { kind, each } of all) {
    signal.throwIfAborted()
    items.push(await updateOne(context, kind, each, versions.get(`${kind} ${each.path}`) ?? null))
    progress(items.length / all.length)
  }
  await context.transaction(async (tx) => {
    const { siteId } = input
    for (const { name, outcome, message } of items) {
      await forgetResult(tx, operationId, { siteId, subject: name })
      await recordResults(tx, operationId, [{ siteId, subject: name, outcome, message }])
    }
    if (!(await holdSite(tx, siteId))) return
    await listSoon(tx, siteId)
    await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
  })
  const faults = [
    ...items.filter(({ outcome }) => outcome === 'failed').map(({ name, message }) => `${name}: ${message}`),
    ...input.skipped,
  ]
  if (!input.core && items.every(({ outcome }) => outcome === 'failed')) throw new PermanentFailure(faults.join('\n'))
  return { items, ...(faults.length > 0 && { warning: faults.join('\n') }) }
}

const skippedOf = ({ skipped }: SafeUpdateOrder) => skipped.length > 0 && { warning: skipped.join('\n') }

/**
 * Records what an undo needs, before the site is touched.
 * @returns the installed versions, by kind and name
 */
async function beginChanges({
  services,
  input,
  operationId,
  transaction,
}: UpdateContext): Promise<Map<string, string>> {
  const { plugins, themes } = await runSiteTask(services, input.siteId, 'list-plugins', {})
  const versions = new Map<string, string>()
  const files: string[] = []
  const paths: string[] = []
  for (const { path } of input.plugins) {
    const known = meantBy(plugins, path)
    const folder = known?.file.split('/', 1)[0]
    // The site reports this name, so it cannot be trusted. Its update is refused later.
    if (!known || folder === undefined || !isSlug(folder)) continue
    versions.set(`plugin ${path}`, known.version)
    files.push(known.file)
    paths.push(`wp-content/plugins/${folder}`)
  }
  for (const { path } of input.themes) {
    const known = themes.find(({ name }) => name === path)
    if (!known || !isSlug(path)) continue
    versions.set(`theme ${path}`, known.version)
    paths.push(themeFolder(path))
  }
  const active = (status: string) => plugins.filter((each) => each.status === status).map(({ file }) => file)
  const before = { active: active('active'), network: active('active-network') }
  await transaction((tx) => setChanging(tx, operationId, { before, plugins: files, paths }))
  return versions
}

const themeFolder = (name: string): string => `wp-content/themes/${name}`

async function updateOne(
  context: UpdateContext,
  kind: UpdatedItem['kind'],
  each: OrderedPlugin,
  from: string | null,
): Promise<UpdatedItem> {
  const item = { kind, name: each.path, from }
  try {
    if (kind === 'theme') {
      const version = from === null ? refuse('it is not installed') : await updateTheme(context, each)
      return { ...item, outcome: 'updated', to: version, message: `Updated ${each.path} from ${from} to ${version}` }
    }
    const { what, outcome, newErrors = [] } = await update(context, each)
    await context.transaction((tx) => endChange(tx, context.operationId))
    const warning = databaseWarning(newErrors)
    const message = warning === undefined ? what : `${what}. ${warning}`
    const isUpdated = outcome === 'updated'
    return { ...item, outcome: isUpdated ? 'updated' : 'unchanged', to: each.package?.version ?? null, message }
  } catch (error) {
    context.signal.throwIfAborted()
    if (!isPluginsFault(error)) throw error
    if (kind === 'plugin') await takeBack(context)
    else if (from !== null) await restorePaths(context, [themeFolder(each.path)])
    return { ...item, outcome: 'failed', to: null, message: error.message }
  }
}

function refuse(reason: string): never {
  throw new PermanentFailure(reason)
}

async function updateTheme(context: UpdateContext, { path, package: wanted }: OrderedPlugin): Promise<string> {
  const { services, input, operationId, signal, results } = context
  const order = { path, version: wanted?.version ?? null, package: wanted }
  const place = contentPlace(input.siteId, await requireDirectory(context))
  const version = await withPackage(context, order, async (found) => {
    if (found.folder !== path)
      throw new PermanentFailure(
        `its package contains the folder ${found.folder}, but the theme is installed in ${path}`,
      )
    await stagePackage(services, place, found, { operationId, signal })
    const asked = { source: stagingOf(operationId), name: path, version: order.version }
    const given = { ...asked, isSafe: results.look.fault !== null }
    const options = { timeoutMs: TASK_MS, refusal: 'WordPress says' }
    return (await runSiteTask(services, input.siteId, 'upgrade-theme', given, options)).version
  })
  await requireAnswer(context)
  return version
}

/**
 * Restores the files of all plugins and themes that an update changes, and which of them were active. May be
 * interrupted, and called again. The database stays: visitors have written there meanwhile.
 */
export async function undoAll(context: Undoing): Promise<void> {
  const { services, operationId, input, log } = context
  const { siteId } = input
  const changing = await changingOf(services.database.read, operationId)
  if (!changing) return
  if (changing.paths.length > 0) await restorePaths(context, changing.paths)
  const { dropIn } = await runSiteTask(services, siteId, 'set-active-plugins', await activeAgain(context, changing))
  if (dropIn)
    await runSiteTask(services, siteId, 'flush-object-cache', {}).catch((error) =>
      log.warn({ err: error, siteId }, 'could not flush the object cache of a site after an update was undone'),
    )
  await context.transaction(async (tx) => {
    await endChange(tx, operationId)
    await setChanging(tx, operationId, null)
    await listSoon(tx, siteId)
    await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
  })
}

/** The changed plugins are active as before. The owner may have switched others meanwhile, which stay as they are. */
async function activeAgain(
  { services, input }: Undoing,
  { before, plugins: changed }: Changing,
): Promise<{ active: string[]; network: string[] }> {
  const { plugins } = await runSiteTask(services, input.siteId, 'list-plugins', {})
  const again = (was: readonly string[], status: string) => {
    const now = plugins.filter((each) => each.status === status).map(({ file }) => file)
    const kept = was.filter((file) => changed.includes(file) || now.includes(file))
    return [...kept, ...now.filter((file) => !was.includes(file) && !changed.includes(file))]
  }
  return { active: again(before.active, 'active'), network: again(before.network, 'active-network') }
}

/** Returns what is wrong with a site whose update was undone, if nothing was before. */
export async function faultAfterUndo({ services, input, results }: Undoing): Promise<string | undefined> {
  return results.look?.fault === null ? frontFault(services, input.siteId) : undefined
}
