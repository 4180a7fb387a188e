import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { nullable } from '../../platform/http/schemas.ts'
import type { Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { purgeCaches, switchSetting, type VisibleSite } from '../sites/public.ts'
import { actions, events } from './actions.ts'

/** Body of the toggle endpoints. With `enabled`, they set the state instead. */
export const Switch = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({ description: 'State to set. If absent, the request toggles the state', examples: [true] }),
    ),
  },
  { title: 'Switch' },
)

export const EdgeCacheStatus = Type.Object(
  {
    active: Type.Boolean({ examples: [true] }),
    defensive_mode: Type.Object(
      {
        active: Type.Boolean({ examples: [true] }),
        active_until: nullable(
          Type.Integer({ description: 'Unix time. Null while defensive mode is off', examples: [1769852000] }),
        ),
      },
      { title: 'DefensiveMode' },
    ),
  },
  { title: 'EdgeCache' },
)

export const CdnStatus = Type.Object({ cdnEnabled: Type.Boolean({ examples: [true] }) }, { title: 'Cdn' })

type SiteContext = Context & Recording & { tx: Tx; site: VisibleSite }

const cdnNames = { true: actions['cdn.enabled'], false: actions['cdn.disabled'] } as const

/**
 * Turns the CDN of a site on or off and records it.
 * @returns the answer of the endpoints
 */
export async function switchCdn(context: SiteContext, enabled: boolean | undefined): Promise<{ cdnEnabled: boolean }> {
  const { tx, site, now } = context
  const result = await switchSetting(tx, site.id, 'cdn', enabled, now)
  if (result.changed) {
    const message = `${result.enabled ? 'Enabled' : 'Disabled'} the CDN`
    await context.record({ action: cdnNames[`${result.enabled}`], message })
    // Invalidate all stored copies: files may have changed while nothing was purged.
    await purgeCaches(tx, site.id, { files: 'all' })
  }
  return { cdnEnabled: result.enabled }
}

/** Turns the edge cache of a site on or off, with its log entry and event. */
export async function switchEdgeCache(context: SiteContext, enabled: boolean | undefined): Promise<void> {
  const { tx, site, now } = context
  const result = await switchSetting(tx, site.id, 'edge_cache', enabled, now)
  if (!result.changed) return
  const [action, type, word] = result.enabled
    ? ([actions['edge_cache.enabled'], events.enabled_edge_cache, 'Enabled'] as const)
    : ([actions['edge_cache.disabled'], events.disabled_edge_cache, 'Disabled'] as const)
  await context.record({ action, message: `${word} the edge cache`, event: { type, data: {} } })
  await purgeCaches(tx, site.id, { pages: 'all' })
}
