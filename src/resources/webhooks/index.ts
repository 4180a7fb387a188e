import { resource } from '../resource.ts'
import { forgetEvents, forgetEventsHourly } from './forget-events.job.ts'

export const webhooks = resource({
  jobs: { control: [forgetEvents] },
  schedules: [forgetEventsHourly],
})
