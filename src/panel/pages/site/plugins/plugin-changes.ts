import { type Signal, useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask, type Got } from '../../../api.ts'
import { changes } from '../../../live.ts'
import { attempt } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { showWork } from '../../../parts/work.ts'
import { pluginsTexts as texts } from '../../../texts/site/plugins.ts'

export type Plugin = components['schemas']['SitePlugin']
type Release = components['schemas']['PluginRelease']
type Kind = keyof typeof texts.about

/** The most plugins in one request. */
const MOST = 50

const requests: Record<Kind, (id: number, plugins: Release[]) => Promise<Got<unknown>>> = {
  update: (id, plugins) => ask(() => api.PUT('/v1/sites/{id}/plugins', with_(id, plugins))),
  activate: (id, plugins) => ask(() => api.PUT('/v1/sites/{id}/plugins/activate', with_(id, plugins))),
  deactivate: (id, plugins) => ask(() => api.PUT('/v1/sites/{id}/plugins/deactivate', with_(id, plugins))),
  install: (id, plugins) => ask(() => api.POST('/v1/sites/{id}/plugins', with_(id, plugins))),
  delete: (id, plugins) => ask(() => api.DELETE('/v1/sites/{id}/plugins', with_(id, plugins))),
}

const with_ = (id: number, plugins: Release[]) => ({ params: { path: { id } }, body: { plugins } })

export interface PluginChanges {
  /** The pending change of each plugin by its name, until its operation has ended. */
  readonly busy: Signal<ReadonlyMap<string, Kind>>
  /** Starts the change at once, and reports a refusal. */
  change(kind: Kind, plugins: readonly Release[]): () => void
  /** Does the same for a form that shows the refusal itself. */
  order(kind: Kind, plugins: readonly Release[]): Promise<void>
}

/** Changes plugins of a site. A switch shows its new state while Stead works. */
export function usePluginChanges(id: number): PluginChanges {
  const busy = useSignal<ReadonlyMap<string, Kind>>(new Map())
  function mark(plugins: readonly Release[], kind?: Kind): void {
    const next = new Map(busy.value)
    for (const { path } of plugins) {
      if (kind) next.set(path, kind)
      else next.delete(path)
    }
    busy.value = next
  }
  async function orderSome(kind: Kind, plugins: Release[]): Promise<void> {
    mark(plugins, kind)
    try {
      const { operationId } = await requests[kind](id, plugins)
      if (operationId === undefined) return mark(plugins)
      showWork(operationId, texts.about[kind](nameOf(plugins)), () => {
        mark(plugins)
        changes.value++
      })
    } catch (error) {
      mark(plugins)
      throw error
    }
  }
  async function order(kind: Kind, plugins: readonly Release[]): Promise<void> {
    for (let at = 0; at < plugins.length; at += MOST) await orderSome(kind, plugins.slice(at, at + MOST))
  }
  return { busy, order, change: (kind, plugins) => attempt(() => order(kind, plugins)) }
}

/** The plugin's name in messages. */
export const nameOf = (plugins: readonly Release[]): string =>
  plugins.length === 1 ? (plugins[0]?.path ?? '') : texts.several(plugins.length)

/** `Updated akismet from 5.3 to 5.4`, as in the site's activity log. */
const UPDATED = /^Updated (\S+) from (\S+) to (\S+?)(?:\.? |\.?$)/

/** Returns the version before the last update and the version since, by plugin. */
export function usePrevious(id: number): ReadonlyMap<string, { readonly from: string; readonly to: string }> {
  const updates = useLoad(() => {
    const filters = [{ field: 'action', operator: 'equals', value: 'plugin.updated' } as const]
    const body = { filters, per_page: MOST }
    return ask(() => api.POST('/v1/sites/{id}/logs/activity', { params: { path: { id } }, body }))
  }, [id])
  const previous = new Map<string, { from: string; to: string }>()
  for (const { message } of updates.got.value?.data ?? []) {
    const [, name, from, to] = UPDATED.exec(message) ?? []
    // Newest first.
    if (name && from && to && !previous.has(name)) previous.set(name, { from, to })
  }
  return previous
}
