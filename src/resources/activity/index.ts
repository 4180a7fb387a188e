import { resource } from '../kit/resource.ts'
import { inheritEntries } from './activity.store.ts'
import { forgetActivity, forgetActivityHourly } from './forget-activity.job.ts'

export const activity = resource({
  tag: { name: 'Activity', description: 'Changes to an account and its sites' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { emptied: inheritEntries },
  jobs: { control: [forgetActivity] },
  schedules: [forgetActivityHourly],
})
