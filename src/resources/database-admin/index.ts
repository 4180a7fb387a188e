import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteLinksOfAccount, deleteLinksOfSite } from './link.store.ts'
import { problems } from './problems.ts'

export const databaseAdmin = resource({
  tag: { name: 'Database-admin', description: "Links that open a site's database in a browser" },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: deleteLinksOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => deleteLinksOfAccount(tx, accountId) },
  problems,
  actions,
})
