import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { forgetFailure } from './failed-update.store.ts'
import { lookForReleases } from './look-for-releases.job.ts'
import { problems } from './problems.ts'
import { updateCmsVersionJob } from './update-cms-version.job.ts'

export const cmsVersion = resource({
  tag: { name: 'Cms-version', description: 'Which release of WordPress a site runs' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [lookForReleases, updateCmsVersionJob] },
  siteHooks: { forgotten: forgetFailure },
  problems,
  actions,
  events,
})
