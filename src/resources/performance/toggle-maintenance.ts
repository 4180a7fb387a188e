import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { Switch } from '../caches/edge-cache.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { actions } from './actions.ts'
import { switchMaintenance } from './switch-maintenance.job.ts'

export const toggleMaintenance = endpoint({
  id: 'toggleMaintenance',
  method: 'PUT',
  path: '/v1/sites/{id}/maintenance-mode',
  summary: 'Switch maintenance mode on or off',
  description:
    'While on, visitors get 503 with a plain page and Retry-After; the dashboard and the log-in work. Applied by a background ' +
    'operation, after those of the site that wait already. Toggles; with `enabled` in the body it sets.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Switch,
  response: Nothing,
  starts: true,

  async handle(context, { body: { enabled } }) {
    const { site } = context
    const input = { siteId: site.id, enabled: enabled ?? null }
    await context.start(switchMaintenance, input)
    const word = enabled === undefined ? 'switched' : enabled ? 'switched on' : 'switched off'
    const message = `Ordered maintenance mode to be ${word}`
    await context.record({ action: actions['wordpress.maintenance_mode'], message })
    return null
  },
})
