import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { problems } from './problems.ts'
import { forgetHosts } from './site-hosts.ts'
import { inheritDeletedZones } from './zone.store.ts'

export const dns = resource({
  tag: { name: 'DNS', description: 'DNS zones with their records' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: forgetHosts },
  accountHooks: { forgotten: (tx, { accountId, heirId }) => inheritDeletedZones(tx, accountId, heirId) },
  problems,
  actions,
  events,
})
