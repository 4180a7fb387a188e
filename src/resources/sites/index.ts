import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { cloneSiteJob } from './clone-site.job.ts'
import { configureSite } from './configure-site.job.ts'
import { moveSiteJob } from './move-site.job.ts'
import { problems } from './problems.ts'
import { provisionSite } from './provision-site.job.ts'
import { purgeSite, removeSite } from './remove-site.job.ts'
import { resetAdminPasswordJob } from './reset-admin-password.job.ts'
import { withdrawAllSight } from './sight.store.ts'
import { switchSafeMode } from './switch-safe-mode.job.ts'

export const sites = resource({
  tag: { name: 'Sites', description: 'Create, find, update and delete sites' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: withdrawAllSight },
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
