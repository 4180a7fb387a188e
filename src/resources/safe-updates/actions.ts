import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = {
  ...declareActions('site', {
    'safe_update.ordered': 'A safe update was requested',
    'safe_update.by_policy': 'The update policy of a site started a safe update',
    'safe_update.kept': 'A safe update found no fault, and was kept',
    'safe_update.settings': 'The settings for safe updates of a site were changed',
    'safe_update.undone': 'A safe update was undone, and the site has its earlier versions',
    'update_policy.changed': 'The update policy of a site was changed',
  }),
  ...declareActions('account', {
    'safe_updates.ordered': 'A safe update of many sites was requested',
    'safe_updates.ended': 'A safe update of many sites has ended',
    'update_policy.default_changed': 'The default update policy was changed',
  }),
}

/** Webhook events for these changes. */
export const events = declareEvents('safe_update_kept', 'safe_update_undone')
