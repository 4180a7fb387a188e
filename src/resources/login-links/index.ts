import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteLoginLinksOfAccount, deleteLoginLinksOfSite } from './login-link.store.ts'
import { problems } from './problems.ts'

export const loginLinks = resource({
  tag: { name: 'Login-links', description: 'One-time login links for WordPress' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: deleteLoginLinksOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => deleteLoginLinksOfAccount(tx, accountId) },
  problems,
  actions,
})
