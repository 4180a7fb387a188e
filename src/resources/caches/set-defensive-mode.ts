import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { nullable, oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSite, SiteSchema, setDefensiveUntil } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { durations, durationsMs } from './defensive-mode-durations.ts'
import { problems } from './problems.ts'

export const setDefensiveMode = endpoint({
  id: 'setDefensiveMode',
  method: 'PUT',
  path: '/v1/sites/{id}/edge-cache/defensive-mode',
  summary: 'Turn defensive mode on for a time, or off',
  description:
    'In defensive mode, the browser of each visitor must solve a short calculation before it gets a page. Use it during an attack. The mode ends automatically after its duration. ' +
    'Without a duration, it ends immediately.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object({
    duration: Type.Optional(
      nullable(oneOf(durations, { description: 'Null or absent turns the mode off', examples: ['2-hours'] })),
    ),
  }),
  response: SiteSchema,
  problems: [problems.edge_cache_off],

  async handle(context, { body }) {
    const { tx, site, config, now } = context
    const durationMs = body.duration == null ? undefined : durationsMs.get(body.duration)
    const defensiveUntil = durationMs === undefined ? null : now + durationMs
    // Turning it off works without an edge cache too.
    if (defensiveUntil !== null && !site.hasEdgeCache) throw new Problem(problems.edge_cache_off, {})
    if (!(await setDefensiveUntil(tx, site.id, defensiveUntil, now))) throw new Problem(problems.edge_cache_off, {})
    const wasActive = site.defensiveUntil !== null && site.defensiveUntil > now
    if (defensiveUntil !== null || wasActive) {
      const message = body.duration ? `Enabled defensive mode for ${body.duration}` : 'Disabled defensive mode'
      const data = { enabled: defensiveUntil !== null, duration: body.duration ?? null }
      const event = { type: events.edge_cache_defensive_mode_toggled, data }
      await context.record({ action: actions['edge_cache.defensive_mode'], message, event })
    }
    return presentSite({ ...site, defensiveUntil }, config, now)
  },
})
