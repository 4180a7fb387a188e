import { resource } from '../resource.ts'
import { forgetEvents, forgetEventsHourly } from './forget-events.job.ts'
import { problems } from './problems.ts'
import { forgetSite } from './webhook.store.ts'

export const webhooks = resource({
  tag: { name: 'Webhooks', description: 'Who is told what happens, and what has happened' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: forgetSite },
  jobs: { control: [forgetEvents] },
  schedules: [forgetEventsHourly],
  problems,
})
