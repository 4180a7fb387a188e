import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.version_ordered': "A change of a site's WordPress version was requested",
  'wordpress.version_updated': 'The WordPress version of a site was changed',
  'wordpress.version_failed': "Changing a site's WordPress version failed, and the site was left unchanged",
})

/** Webhook events for these changes. */
export const events = declareEvents('wp_version_changed')
