import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { Switch } from '../caches/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { switchMaintenance } from './switch-maintenance.job.ts'

export const toggleMaintenance = endpoint({
  id: 'toggleMaintenance',
  method: 'PUT',
  path: '/v1/sites/{id}/maintenance-mode',
  summary: 'Turn maintenance mode on or off',
  description:
    'In maintenance mode, visitors get 503 with a plain page and Retry-After. The dashboard and the log-in page work. A background operation applies the change ' +
    "after the site's other queued operations. Toggles the state, or sets it to `enabled` if the body contains that field.",
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Switch,
  response: Nothing,
  starts: true,

  async handle(context, { body: { enabled } }) {
    const { site } = context
    const input = { siteId: site.id, enabled: enabled ?? null }
    await context.start(switchMaintenance, input)
    const word = enabled === undefined ? 'switched' : enabled ? 'turned on' : 'turned off'
    const message = `Requested that maintenance mode be ${word}`
    await context.record({ action: actions['wordpress.maintenance_mode'], message })
    return null
  },
})
