import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { cloneSiteJob } from './clone/clone-site.job.ts'
import { provisionSite } from './create/provision-site.job.ts'
import { moveSiteJob } from './move/move-site.job.ts'
import { problems } from './problems.ts'
import { purgeSite, removeSite } from './remove/remove-site.job.ts'
import { forgetSitesOf, revokeAllAccess } from './site-access.store.ts'
import { configureSite } from './switches/configure-site.job.ts'
import { switchSafeMode } from './switches/switch-safe-mode.job.ts'
import { resetAdminPasswordJob } from './wordpress/reset-admin-password.job.ts'

export const sites = resource({
  tag: { name: 'Sites', description: 'Create, find, update and delete sites' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: revokeAllAccess },
  accountHooks: { forgotten: (tx, { accountId }) => forgetSitesOf(tx, accountId) },
  jobs: {
    host: [
      provisionSite,
      cloneSiteJob,
      configureSite,
      removeSite,
      purgeSite,
      resetAdminPasswordJob,
      switchSafeMode,
      moveSiteJob,
    ],
  },
  problems,
  actions,
  events,
})
