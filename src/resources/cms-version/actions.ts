import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.version_ordered': 'Another release of WordPress was ordered for a site',
  'wordpress.version_updated': 'A site runs another release of WordPress',
  'wordpress.version_failed': 'A site could not be brought to another release of WordPress; it is as it was',
})

/** What webhooks tell of them. */
export const events = declareEvents('wp_version_changed')
