import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'environment.linked': 'A site became an environment of a live site',
  'environment.unlinked': 'A site is no longer an environment of a live site',
})

/** Webhook events for these changes. */
export const events = declareEvents('environment_linked', 'environment_unlinked')
