import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { copyTags } from './copy-tags.ts'
import { problems } from './problems.ts'
import { deleteTagsOfAccount, deleteTagsOfSite } from './tag.store.ts'

export const tags = resource({
  tag: { name: 'Tags', description: "Tags and favourites that organize an account's sites" },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { ordered: copyTags, forgotten: deleteTagsOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => deleteTagsOfAccount(tx, accountId) },
  problems,
  actions,
})
