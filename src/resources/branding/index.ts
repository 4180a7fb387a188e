import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { forgetBranding } from './branding.store.ts'
import { problems } from './problems.ts'

export const branding = resource({
  tag: { name: 'Branding', description: 'What an account shows to its clients: name, color, and logo' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { forgotten: (tx, { accountId }) => forgetBranding(tx, accountId) },
  problems,
  actions,
})
