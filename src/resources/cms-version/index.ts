import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { forgetFailedUpdate } from './failed-update.store.ts'
import { lookForReleases, lookForReleasesNightly, lookTwiceADay, planNightlyLook } from './look-for-releases.job.ts'
import { planUpdates, planUpdatesOften } from './plan-updates.job.ts'
import { problems } from './problems.ts'
import { updateBySchedule } from './update-by-schedule.job.ts'
import { updateCmsVersionJob } from './update-cms-version.job.ts'

export const cmsVersion = resource({
  tag: { name: 'Cms-version', description: 'WordPress version of a site' },
  endpoints: () => import('./endpoints.ts'),
  jobs: {
    host: [lookForReleases, lookForReleasesNightly, updateCmsVersionJob, updateBySchedule],
    control: [planNightlyLook, planUpdates],
  },
  schedules: [lookTwiceADay, planUpdatesOften],
  siteHooks: { forgotten: forgetFailedUpdate },
  problems,
  actions,
  events,
})
