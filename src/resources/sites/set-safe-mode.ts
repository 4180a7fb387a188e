import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { waitForOperation } from '../wait-for-operation.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { demandInstalled } from './site.ts'
import { switchSafeMode } from './switch-safe-mode.job.ts'
import { switchSetting } from './switches.store.ts'

const SafeMode = Type.Object({ enabled: Type.Boolean({ examples: [true] }) }, { title: 'SafeMode' })

export const setSafeMode = endpoint({
  id: 'setSafeMode',
  method: 'PUT',
  path: '/v1/sites/{id}/cms/safe-mode',
  summary: 'Switch safe mode on or off',
  description:
    'While on, WordPress starts without plugins, must-use plugins, drop-ins and the theme of the site: a default theme that is ' +
    'installed takes its place, the log-in and the dashboard do without one, and no scheduled event runs. Nothing is changed in ' +
    'the site; in the dashboard its plugins can be deactivated. Visitors see the site without its plugins, too. Answers when ' +
    'PHP runs that way and stored pages are purged. `safeMode` of `GET /v1/sites/{id}/status` shows whether it is on.',
  access: { site: 'administer the CMS' },
  params: Type.Object({ id: SiteId }),
  body: SafeMode,
  response: SafeMode,
  starts: true,
  problems: [problems.site_not_live, problems.site_cannot, problems.site_unavailable],

  async handle(context, { body: { enabled } }) {
    const { tx, site, now } = context
    demandInstalled(site)
    const { changed } = await switchSetting(tx, site.id, 'safe_mode', enabled, now)
    if (!changed) return { enabled }
    await context.start(switchSafeMode, { siteId: site.id })
    const action = enabled ? actions['wordpress.safe_mode.enabled'] : actions['wordpress.safe_mode.disabled']
    await context.record({ action, message: `Switched safe mode ${enabled ? 'on' : 'off'}` })
    return { enabled }
  },

  async afterCommit(context) {
    if (context.started.length > 0) await waitForOperation(context)
  },
})
