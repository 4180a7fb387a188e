import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { waitForOperation } from '../../kit/wait-for-operation.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { requireInstalled } from '../site.ts'
import { switchSafeMode } from './switch-safe-mode.job.ts'
import { switchSetting } from './switches.store.ts'

const SafeMode = Type.Object({ enabled: Type.Boolean({ examples: [true] }) }, { title: 'SafeMode' })

export const setSafeMode = endpoint({
  id: 'setSafeMode',
  method: 'PUT',
  path: '/v1/sites/{id}/cms/safe-mode',
  summary: 'Turn safe mode on or off',
  description:
    'In safe mode, WordPress starts without the plugins, must-use plugins, drop-ins and theme of the site, for visitors as well. It uses an installed default theme instead, ' +
    'and runs no scheduled events. The log-in page and the dashboard work without a theme. Safe mode changes nothing in the site. ' +
    'You can deactivate plugins in the dashboard. The response arrives when ' +
    'the change is active and the cached pages are purged. `safeMode` of `GET /v1/sites/{id}/status` shows whether safe mode is on.',
  access: { site: 'administer the CMS' },
  params: Type.Object({ id: SiteId }),
  body: SafeMode,
  response: SafeMode,
  starts: true,
  problems: [problems.site_not_live, problems.site_cannot, problems.site_unavailable],

  async handle(context, { body: { enabled } }) {
    const { tx, site, now } = context
    requireInstalled(site)
    const { changed } = await switchSetting(tx, site.id, 'safe_mode', enabled, now)
    if (!changed) return { enabled }
    await context.start(switchSafeMode, { siteId: site.id })
    const action = enabled ? actions['wordpress.safe_mode.enabled'] : actions['wordpress.safe_mode.disabled']
    await context.record({ action, message: `Turned safe mode ${enabled ? 'on' : 'off'}` })
    return { enabled }
  },

  async afterCommit(context) {
    if (context.started.length > 0) await waitForOperation(context)
  },
})
