import { resource } from '../kit/resource.ts'
import { deleteWordsOfAccount, withdrawSite } from './search-words.store.ts'

export const searches = resource({
  tag: { name: 'Search', description: 'Find sites and people by any of their names' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { forgotten: (tx, { accountId }) => deleteWordsOfAccount(tx, accountId) },
  siteHooks: { forgotten: (tx, siteId) => withdrawSite(tx, siteId) },
})
