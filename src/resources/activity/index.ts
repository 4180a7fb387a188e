import { resource } from '../resource.ts'
import { forgetActivity, forgetActivityHourly } from './forget-activity.job.ts'

export const activity = resource({
  tag: { name: 'Activity', description: 'What was done to an account and its sites' },
  operations: () => import('./operations.ts'),
  jobs: { control: [forgetActivity] },
  schedules: [forgetActivityHourly],
})
