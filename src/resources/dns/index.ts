import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { problems } from './problems.ts'
import { forgetHosts } from './site-hosts.ts'

export const dns = resource({
  tag: { name: 'DNS', description: 'DNS zones with their records' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: forgetHosts },
  problems,
  actions,
  events,
})
