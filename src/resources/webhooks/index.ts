import { resource } from '../kit/resource.ts'
import { forgetEvents, forgetEventsHourly } from './forget-events.job.ts'
import { problems } from './problems.ts'
import { deleteEventsOfAccount, deleteWebhooksOfAccount, removeSiteFromWebhooks } from './webhook.store.ts'

export const webhooks = resource({
  tag: { name: 'Webhooks', description: 'Notifications of events, and past events' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: removeSiteFromWebhooks },
  accountHooks: {
    emptied: (tx, { accountId }, most) => deleteEventsOfAccount(tx, accountId, most),
    forgotten: (tx, { accountId }) => deleteWebhooksOfAccount(tx, accountId),
  },
  jobs: { control: [forgetEvents] },
  schedules: [forgetEventsHourly],
  problems,
})
