import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { recordResults, resultsOfOperation } from '../../platform/operations/results.ts'
import { someOf } from '../../platform/some-of.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import type { EventType } from '../webhooks/public.ts'
import { actions, events } from './actions.ts'
import { bringToSitesHere } from './bring.ts'
import { dropUnused, useContent } from './content.store.ts'
import { checkPlugin, fetchPlugin, notThere } from './fetch-plugin.ts'
import { addAllSites, membersOf } from './member.store.ts'
import { changeMuPlugin, dropForgotten, hasSlug, muPluginOfWork } from './mu-plugin.store.ts'
import type { MuPlugin } from './mu-plugin.ts'

const Input = Type.Object({ pluginId: Type.Integer() })
type Input = Type.Static<typeof Input>
type Context<Results = unknown> = StepContext<Input, HostServices, Results>

/**
 * Steps for a new plugin, and for one that is fetched again. The work begins on one host, and starts operations on the
 * others.
 */
const bringing = {
  fetch: { run: async (context: Context) => fetchPlugin(context, await pluginOf(context)) },
  check: {
    run: async (context: Context<{ fetch: { sha256: string } }>) =>
      checkPlugin(context, await pluginOf(context), context.results.fetch.sha256),
  },
  sites: { commit: useFetched },
  bring: { run: bringHere, weight: 20 },
}

/** Fetches a must-use plugin for the first time, and installs it on the sites that should have it. */
export const installMuPlugin = durableWith<HostServices>()({
  name: 'mu_plugin.install',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  steps: {
    ...bringing,
    done: { commit: (tx, context: Context) => tellDone(tx, context, events.mu_plugin_install_success) },
  },
  failed: (tx, context) => tellRefused(tx, context, events.mu_plugin_install_failed),
})

/** Fetches a must-use plugin again, and installs it on all sites that have it. */
export const updateMuPlugin = durableWith<HostServices>()({
  name: 'mu_plugin.update',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  steps: {
    ...bringing,
    done: { commit: (tx, context: Context) => tellDone(tx, context, events.mu_plugin_update_success) },
  },
  failed: (tx, context) => tellRefused(tx, context, events.mu_plugin_update_failed),
})

/** Removes a deleted must-use plugin from all sites that have it. */
export const removeMuPlugin = durableWith<HostServices>()({
  name: 'mu_plugin.remove',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  mustEnd: true,
  steps: {
    sites: { commit: (tx, context: Context) => startElsewhere(tx, context) },
    bring: { run: bringHere, weight: 20 },
    done: {
      async commit(tx, context: Context) {
        const told = await tellDone(tx, context, events.mu_plugin_deleted)
        const plugin = await muPluginOfWork(tx, context.input.pluginId)
        if (plugin && !(await hasSlug(tx, plugin.accountId, plugin.slug))) await dropUnused(tx, plugin, null)
        await dropForgotten(tx, context.input.pluginId)
        return told
      },
    },
  },
})

/** Installs or removes a must-use plugin on the sites of another host than the one where the work began. */
export const bringMuPlugin = durableWith<HostServices>()({
  name: 'mu_plugin.bring',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  steps: {
    bring: { run: bringHere, weight: 20 },
    done: { commit: (tx) => dropForgotten(tx) },
  },
})

/** @throws PermanentFailure when it was deleted */
async function pluginOf({ services, input }: Context): Promise<MuPlugin> {
  const plugin = await muPluginOfWork(services.database.read, input.pluginId)
  if (!plugin || plugin.isDeleted) throw new PermanentFailure('The must-use plugin was deleted')
  return plugin
}

/** Makes the fetched content the one that its sites should have. */
async function useFetched(tx: Tx, context: Context<{ fetch: { sha256: string } }>): Promise<void> {
  const { sha256 } = context.results.fetch
  const plugin = await muPluginOfWork(tx, context.input.pluginId)
  if (!plugin || plugin.isDeleted) throw new PermanentFailure('The must-use plugin was deleted')
  // Sites that are created later are not existing sites.
  if (plugin.isOnExistingSites && plugin.sha256 === null) await addAllSites(tx, plugin.id, plugin.accountId)
  await changeMuPlugin(tx, plugin.id, { sha256 })
  if (!(await useContent(tx, { ...plugin, sha256 }, context.now()))) throw new PermanentFailure(notThere(plugin))
  await startElsewhere(tx, context)
}

/** Starts an operation on each other host with sites of the plugin. */
async function startElsewhere(tx: Tx, context: Context): Promise<void> {
  const { services, operationId, input, accountId } = context
  const all = await membersOf(tx, input.pluginId, { without: operationId })
  const elsewhere = Map.groupBy(
    all.filter(({ hostId }) => hostId !== services.hostId),
    ({ hostId }) => hostId,
  )
  const change = changeOfJob(tx, context)
  for (const [hostId, sites] of elsewhere) {
    const about = { accountId: accountId as number, hostId }
    const followUpId = hostId === null ? null : await change.start(bringMuPlugin, input, { about })
    const message = followUpId ? 'The site is on another host, which installs the plugin' : 'The site has no host'
    const outcome = followUpId ? 'scheduled' : 'skipped'
    await recordResults(
      tx,
      operationId,
      sites.map(({ siteId }) => ({ siteId, outcome, message, followUpId })),
    )
  }
}

async function bringHere(context: Context): Promise<void> {
  const plugin = await muPluginOfWork(context.services.database.read, context.input.pluginId)
  if (plugin) await bringToSitesHere(context, plugin)
}

async function tellDone(tx: Tx, context: Context, type: EventType): Promise<{ warning?: string }> {
  const plugin = await muPluginOfWork(tx, context.input.pluginId)
  if (!plugin) return {}
  const results = await resultsOfOperation(tx, context.operationId)
  const counts = Object.fromEntries(
    [...Map.groupBy(results, ({ outcome }) => outcome)].map(([outcome, sites]) => [outcome, sites.length]),
  )
  const summary =
    Object.entries(counts)
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(', ') || 'no sites'
  await changeOfJob(tx, context).record({
    action: actions['mu_plugin.brought'],
    message: `Must-use plugin ${plugin.slug}: ${summary}`,
    event: { type, data: { ...eventData(plugin), sites: counts } },
  })
  const others = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'skipped')
  const messages = others.map(({ siteId, message }) => `Site ${siteId}: ${message}`)
  return messages.length > 0 ? { warning: someOf(messages, 1, { between: '; ' }) } : {}
}

async function tellRefused(tx: Tx, context: FailureContext<Input>, type: EventType): Promise<void> {
  const plugin = await muPluginOfWork(tx, context.input.pluginId)
  if (!plugin || context.canceled || plugin.isDeleted) return
  const reason = (context.error ?? 'unknown').replace(/\.$/, '')
  await changeOfJob(tx, context).record({
    action: actions['mu_plugin.refused'],
    message: `Must-use plugin ${plugin.slug}: ${reason}`,
    event: { type, data: { ...eventData(plugin), reason } },
  })
}

const eventData = ({ id, path, slug }: MuPlugin) => ({ id, path, slug })
