import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'site.down': 'A site is down',
  'site.up': 'A site is up again',
})

/** Webhook events for these changes. */
export const events = declareEvents('site_down', 'site_up')
