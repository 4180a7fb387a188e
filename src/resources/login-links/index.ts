import { resource } from '../resource.ts'
import { actions } from './actions.ts'
import { deleteLoginLinksOfSite } from './login-link.store.ts'
import { problems } from './problems.ts'

export const loginLinks = resource({
  tag: { name: 'Login-links', description: "Links that log a person's browser in to a site's WordPress, once" },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: deleteLoginLinksOfSite },
  problems,
  actions,
})
