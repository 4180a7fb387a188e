import type { PluginDirectory } from '../../../hosting/plugin-directory/plugin-directory.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { StepContext } from '../../../platform/operations/definition.ts'
import { isPaused } from '../../../platform/operations/pause.ts'
import { stillAllowed } from '../../access/still-allowed.ts'
import { knownReleases } from '../../cms-version/public.ts'
import { extensionsOf } from '../../inventory/public.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import type { Source } from '../../kit/source-of-request.ts'
import { meantBy, storedPlugins } from '../../plugins/public.ts'
import { findSite, holdSite, isInstalled, type Site } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { findCore } from '../find-core.ts'
import { chooseUpdates, type FoundUpdates } from '../find-updates.ts'
import { beginReport, updateInProgress } from '../safe-update.store.ts'
import { namesOfUpdate } from '../safe-update.ts'
import { updateSafelyJob } from '../update-safely.job.ts'
import { busyHosts, countRunning, holdPlaces, olderBatches, setBatchSite } from './batch.store.ts'
import { type BatchWish, UPDATES_AT_ONCE } from './batch.ts'

export type BatchServices = Pick<ControlServices, 'database' | 'config' | 'pluginDirectory'>

/** The requester of a batch. Null: Stead itself. */
type BatchSource = Source | null

type Context = StepContext<BatchWish, BatchServices>

/** What to update, or why nothing. */
type Finding = { readonly found: FoundUpdates } | { readonly reason: string; readonly state: 'skipped' | 'failed' }

/** Skips the sites that older batches update, too, even if their hosts have no place for an update now. */
export async function skipTaken({ services, operationId, transaction }: Context): Promise<void> {
  if ((await olderBatches(services.database.read, operationId)).size === 0) return
  await transaction(async (tx) => {
    if (await isPaused(tx, operationId)) return
    for (const [siteId, older] of await olderBatches(tx, operationId))
      await setBatchSite(tx, operationId, siteId, { state: 'skipped', reason: updatedBy(older) })
  })
}

const updatedBy = (operation: number): string => `Operation ${operation} already updates this site safely`

/**
 * Begins the update of a site, if it has a place.
 * @returns `full` when no update may begin now, `busy` when none may begin on the host of this site
 */
export async function beginOne(context: Context, siteId: number): Promise<'begun' | 'skipped' | 'busy' | 'full'> {
  const { services, operationId, input, now } = context
  const finding = await findFor(services, siteId, input)
  return context.transaction(async (tx) => {
    // The transaction holds the operation, so nobody can pause it before the update has begun.
    if (await isPaused(tx, operationId)) return 'full'
    await holdPlaces(tx)
    if ((await countRunning(tx, updateSafelyJob.name)) >= UPDATES_AT_ONCE) return 'full'
    const site = await holdSite(tx, siteId)
    const reason = await whySkipped(tx, context, site)
    if (reason !== undefined || !site || site.hostId === null || !('found' in finding)) {
      const skipped = { state: 'skipped' as const, reason: reason ?? 'The site has no host' }
      await setBatchSite(tx, operationId, siteId, reason === undefined && 'reason' in finding ? finding : skipped)
      return 'skipped'
    }
    if ((await busyHosts(tx, updateSafelyJob.name)).has(site.hostId)) return 'busy'
    const source = context.source as BatchSource
    const change = changeBy(tx, { actor: source ?? 'systems', about: aboutSite(site), now: now() })
    const { found } = finding
    const id = await change.start(updateSafelyJob, { siteId, ...found, paths: [] })
    await setBatchSite(tx, operationId, siteId, { state: 'in_progress', updateId: id })
    await beginReport(tx, id, siteId, now(), { batchId: operationId })
    await change.record({
      action: actions['safe_update.ordered'],
      message: `Requested the safe update of ${namesOfUpdate(found)}, with other sites`,
    })
    return 'begun'
  })
}

async function whySkipped(tx: Tx, context: Context, site: Site | undefined): Promise<string | undefined> {
  const { operationId, accountId, source, input } = context
  if (!site) return 'The site was deleted'
  const asked = (source as BatchSource)?.caller.accountId ?? (accountId as number)
  const [mayUpdate] = await stillAllowed(tx, [{ accountId: asked, siteId: site.id, capability: 'manage plugins' }])
  if (!mayUpdate) return 'The account that requested it no longer has the role plugin_management_access on the site'
  const release = { accountId: asked, siteId: site.id, capability: 'change the CMS version' } as const
  if (input.core !== undefined && !(await stillAllowed(tx, [release]))[0])
    return 'The account that requested it does not have the role update_site_cms_version on the site'
  if (site.state === 'disabled') return 'The site is disabled'
  if (!isInstalled(site)) return `The site is ${site.state}`
  if (site.isInMaintenance) return 'The site is in maintenance mode'
  const update = await updateInProgress(tx, updateSafelyJob.name, site.id)
  if (update !== undefined) return updatedBy(update)
  const older = (await olderBatches(tx, operationId, site.id)).get(site.id)
  return older === undefined ? undefined : updatedBy(older)
}

/** Finds out what to update on a site, from what Stead knows of it. The update itself asks the site again. */
async function findFor(services: BatchServices, siteId: number, wish: BatchWish): Promise<Finding> {
  const { read } = services.database
  const installed = await storedPlugins(read, siteId)
  const themes = (await extensionsOf(read, siteId)).filter(({ kind }) => kind === 'theme')
  const here = {
    all: wish.all,
    plugins: wish.plugins.filter(({ path }) => meantBy(installed, path) !== undefined),
    themes: wish.themes.filter(({ name }) => themes.some(({ slug }) => slug === name)),
  }
  const { core, fault } = await findRelease(services, siteId, wish)
  if (!wish.all && here.plugins.length + here.themes.length === 0 && !core)
    return fault !== undefined
      ? { state: 'skipped', reason: fault }
      : { state: 'skipped', reason: 'The site has none of these plugins and themes' }
  try {
    const found = await chooseUpdates(services, { siteId, installed, core }, here)
    const isNew = (version: string | undefined, release: string | null | undefined) =>
      version === undefined || release == null || version !== release
    const plugins = found.plugins.filter((each) => isNew(meantBy(installed, each.path)?.version, each.package?.version))
    const themesToUpdate = found.themes.filter((each) =>
      isNew(themes.find(({ slug }) => slug === each.path)?.version, each.package?.version),
    )
    if (plugins.length + themesToUpdate.length === 0 && !core)
      return { state: 'skipped', reason: 'The site has these versions already' }
    const skipped = [...found.skipped, ...(fault === undefined ? [] : [`WordPress: ${fault}`])]
    return { found: { ...found, skipped, plugins, themes: themesToUpdate } }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // A retry may reach the directory.
    const isAway = error.code === 'plugin_directory_unavailable'
    // A site that has nothing else to update tells why its WordPress stays.
    const reason = isAway ? error.message : (fault ?? error.message)
    return { state: isAway ? 'failed' : 'skipped', reason }
  }
}

/** Finds the release of WordPress for a site among those that Stead knows, or why it gets none. */
async function findRelease(
  { database: { read } }: BatchServices,
  siteId: number,
  { core: wanted }: BatchWish,
): Promise<{ readonly core: FoundUpdates['core']; readonly fault?: string }> {
  const site = wanted === undefined ? undefined : await findSite(read, siteId)
  if (!site || wanted === undefined) return { core: undefined }
  try {
    return { core: findCore(site, wanted, await knownReleases(read)) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { core: undefined, fault: error.message }
  }
}

/** How long answers of the directory are used again, for sites with the same plugins. */
const FRESH_MS = 600_000

/** Asks a directory once for each plugin and theme, and not for each site. */
export function rememberedDirectory(directory: PluginDirectory, now: () => number): PluginDirectory {
  const known = new Map<string, { readonly at: number; readonly answer: ReturnType<PluginDirectory['find']> }>()
  const once = (key: string, ask: () => ReturnType<PluginDirectory['find']>) => {
    const before = known.get(key)
    if (before && now() - before.at < FRESH_MS) return before.answer
    const answer = ask()
    known.set(key, { at: now(), answer })
    answer.catch(() => known.delete(key))
    return answer
  }
  return {
    find: (slug, signal) => once(`plugin ${slug}`, () => directory.find(slug, signal)),
    findTheme: (slug, signal) => once(`theme ${slug}`, () => directory.findTheme(slug, signal)),
  }
}
