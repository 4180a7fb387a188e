import { ArchiveRefused } from '../../hosting/archives/unpack-zip.ts'
import { isHostsDoing, PhpCrashed, PhpTimeout, type PhpVersion } from '../../hosting/php/runtime.ts'
import { DiskFull } from '../../hosting/site-directories/disk-space.ts'
import { FilesRefused } from '../../hosting/site-files/paths.ts'
import { FetchError } from '../../platform/fetch/fetch-public.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { forgetResult, recordResults, resultsOfOperation } from '../../platform/operations/results.ts'
import { needsRights } from '../access/still-allowed.ts'
import { endAlert, raiseAlert } from '../alerts/public.ts'
import { keeping } from '../backups/public.ts'
import type { Action } from '../kit/action.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { adviceForShop, findSite, holdSite, purgeCaches } from '../sites/public.ts'
import type { EventType } from '../webhooks/public.ts'
import { actions, events } from './actions.ts'
import {
  activateOne,
  type Changed,
  deactivateOne,
  deleteOne,
  install,
  type PluginChanger,
  update,
} from './change-plugin.ts'
import { type DatabaseErrors, databaseWarning, frontFault, innerFaults } from './front-fault.ts'
import { lookAtPlugins } from './list-plugins.job.ts'
import { endChange, listSoon } from './plugin.store.ts'
import { isShop, type OrderedPlugin, PluginsOrder } from './plugin.ts'
import { type ChangeContext, takeBack } from './take-back.ts'

/** How an outcome is reported. */
interface Told {
  readonly action: Action
  readonly event: EventType
}

interface Kind {
  readonly change: PluginChanger
  readonly done: Told
  readonly failed: Told
}

type PluginsContext = StepContext<PluginsOrder, HostServices, ChangeContext['results']>

/** The common part of these operations. */
const common = {
  input: PluginsOrder,
  on: 'host',
  changeableBy: { site: 'manage plugins' },
  permission: needsRights(({ siteId }: PluginsOrder) => [{ siteId, capability: 'manage plugins' }]),
  attempts: 3,
} as const

/** Checks whether the site responds before anything is changed. */
const look = { run: lookFirst }

/** Finds out what is wrong with a site before its plugins change. */
export async function lookFirst({
  services,
  input,
}: {
  readonly services: Pick<HostServices, 'hostedSite' | 'pool'>
  readonly input: { readonly siteId: number }
}) {
  const errors: DatabaseErrors = new Set()
  const fault = (await frontFault(services, input.siteId, { errors })) ?? null
  const inner = fault === null ? await innerFaults(services, input.siteId, {}, errors) : {}
  return { fault, inner, databaseErrors: [...errors] }
}

/** Backs up files or database, for a later undo and for an immediate rollback. */
const keep = (kind: 'fs' | 'db') => ({ ...keeping<PluginsOrder>(kind), weight: 2 })

/** Rolls back an interrupted change. Finished changes stay. */
const each = (kind: Kind) => ({
  run: (context: PluginsContext) => changeAll(context, kind),
  undo: (context: Parameters<typeof takeBack>[0]) => takeBack(context),
  weight: 5,
})

export const installPluginsJob = durableWith<HostServices>()({
  name: 'plugin.install',
  ...common,
  steps: {
    look,
    keep_files: keep('fs'),
    keep_database: keep('db'),
    plugins: each({
      change: install,
      done: { action: actions['plugin.installed'], event: events.site_plugin_installed_successfully },
      failed: { action: actions['plugin.install_failed'], event: events.site_plugin_install_failed },
    }),
  },
})

export const updatePluginsJob = durableWith<HostServices>()({
  name: 'plugin.update',
  ...common,
  steps: {
    look,
    keep_files: keep('fs'),
    keep_database: keep('db'),
    plugins: each({
      change: update,
      done: { action: actions['plugin.updated'], event: events.site_plugin_updated_successfully },
      failed: { action: actions['plugin.update_failed'], event: events.site_plugin_update_failed },
    }),
  },
})

export const deletePluginsJob = durableWith<HostServices>()({
  name: 'plugin.delete',
  ...common,
  steps: {
    look,
    keep_files: keep('fs'),
    keep_database: keep('db'),
    plugins: each({
      change: deleteOne,
      done: { action: actions['plugin.deleted'], event: events.site_plugin_deleted_successfully },
      failed: { action: actions['plugin.delete_failed'], event: events.site_plugin_delete_failed },
    }),
  },
})

export const activatePluginsJob = durableWith<HostServices>()({
  name: 'plugin.activate',
  ...common,
  steps: {
    look,
    plugins: each({
      change: activateOne,
      done: { action: actions['plugin.activated'], event: events.site_plugin_activated_successfully },
      failed: { action: actions['plugin.activation_failed'], event: events.site_plugin_activation_failed },
    }),
  },
})

export const deactivatePluginsJob = durableWith<HostServices>()({
  name: 'plugin.deactivate',
  ...common,
  steps: {
    look,
    plugins: each({
      change: deactivateOne,
      done: { action: actions['plugin.deactivated'], event: events.site_plugin_deactivated_successfully },
      failed: { action: actions['plugin.deactivation_failed'], event: events.site_plugin_deactivation_failed },
    }),
  },
})

/**
 * Changes one plugin after the other. Successful changes stay even if others fail, and a retry repeats the failed ones.
 */
async function changeAll(context: PluginsContext, kind: Kind): Promise<{ warning: string } | undefined> {
  const { input, operationId, services, signal } = context
  // Rolls back what a crash has interrupted.
  await takeBack(context)
  const results = await resultsOfOperation(services.database.read, operationId)
  const outcomes = new Map(results.map(({ subject, outcome }) => [subject, outcome]))
  const faults: string[] = []
  const warnings: string[] = []
  for (const [index, plugin] of input.plugins.entries()) {
    const known = outcomes.get(plugin.path)
    if (known !== undefined && known !== 'failed') continue
    signal.throwIfAborted()
    const { fault, warning } = await changeOne(context, plugin, kind)
    if (fault !== undefined) faults.push(withName(plugin, fault))
    if (warning !== undefined) warnings.push(withName(plugin, warning))
    context.progress((index + 1) / input.plugins.length)
  }
  if (faults.length > 0) throw new PermanentFailure(faults.join('\n'))
  const isSwitchedOn = kind.change === install || kind.change === activateOne
  const advice = isSwitchedOn && input.plugins.some(({ path }) => isShop(path)) && (await adviceFor(context))
  if (advice) warnings.push(advice)
  return warnings.length > 0 ? { warning: warnings.join('\n') } : undefined
}

/** Returns advice for the owner of a shop, if its host has a better database. */
async function adviceFor({ services, input: { siteId } }: PluginsContext): Promise<string | undefined> {
  const [site, directory] = await Promise.all([
    findSite(services.database.read, siteId),
    services.siteDirectories.ofSite(siteId),
  ])
  const phpVersion = site?.phpVersion as PhpVersion
  return site && directory && adviceForShop(services, { siteDirectory: directory.path, phpVersion })
}

/**
 * Changes one plugin.
 * @returns why it failed, in which case the site is unchanged, or a warning for its owner
 */
async function changeOne(
  context: PluginsContext,
  plugin: OrderedPlugin,
  kind: Kind,
): Promise<{ readonly fault?: string; readonly warning?: string }> {
  try {
    const { newErrors = [], ...changed } = await kind.change(context, plugin)
    const warning = databaseWarning(newErrors)
    const what = warning === undefined ? changed.what : `${changed.what}. ${warning}`
    await record(context, plugin, { told: kind.done, ...changed, what })
    return warning === undefined ? {} : { warning }
  } catch (error) {
    context.signal.throwIfAborted()
    if (!isPluginsFault(error)) throw error
    await takeBack(context)
    const { message: reason } = error
    await record(context, plugin, { told: kind.failed, outcome: 'failed', what: withName(plugin, reason), reason })
    return { fault: reason }
  }
}

/** Adds the name, unless the reason begins with it, as for a URL that could not be fetched. */
const withName = ({ path }: OrderedPlugin, reason: string): string =>
  reason.startsWith(`${path}: `) ? reason : `${path}: ${reason}`

/** Returns whether an error is the plugin's fault, or one that a retry cannot solve. */
export const isPluginsFault = (error: unknown): error is Error =>
  !isHostsDoing(error) &&
  [PermanentFailure, FetchError, ArchiveRefused, PhpCrashed, PhpTimeout, DiskFull, FilesRefused].some(
    (kind) => error instanceof kind,
  )

interface Outcome {
  readonly told: Told
  readonly outcome: Changed['outcome'] | 'failed'
  readonly what: string
  readonly reason?: string
}

async function record(
  context: PluginsContext,
  { path, version }: OrderedPlugin,
  { told, outcome, what, reason }: Outcome,
): Promise<void> {
  const { input, operationId } = context
  const { siteId } = input
  await context.transaction(async (tx) => {
    await forgetResult(tx, operationId, { siteId, subject: path })
    await recordResults(tx, operationId, [{ siteId, subject: path, outcome, message: what }])
    await endChange(tx, operationId)
    const site = await holdSite(tx, siteId)
    if (!site) return
    // The advice for shops reads the stored list at once. For the lists of all sites, the next look is soon enough.
    if (isShop(path)) await lookAtPlugins(tx, site, context.now())
    else await listSoon(tx, siteId)
    if (told.event === events.site_plugin_updated_successfully) await endAlert(tx, undone(siteId, path), context.now())
    if (told.event === events.site_plugin_update_failed)
      await raiseAlert(tx, { ...undone(siteId, path), detail: reason ?? what }, context.now())
    const data = { path, version: version ?? 'latest', ...(reason !== undefined && { reason }) }
    await changeOfJob(tx, context).record({ action: told.action, message: what, event: { type: told.event, data } })
    await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
  })
}

/** The alert for an update that failed, after which the plugin is as it was. */
const undone = (siteId: number, path: string) => ({ kind: 'update_undone', siteId, subject: path }) as const
