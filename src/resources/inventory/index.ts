import { resource } from '../kit/resource.ts'
import { deleteCountsOfAccount, deleteExtensionsOfSite } from './extensions.store.ts'

export const inventory = resource({
  tag: { name: 'Inventory', description: 'Plugins and themes of all sites' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { forgotten: (tx, { accountId }) => deleteCountsOfAccount(tx, accountId) },
  siteHooks: { forgotten: deleteExtensionsOfSite },
})
