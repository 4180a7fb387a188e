import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'edge_cache.enabled': 'The edge cache was turned on',
  'edge_cache.disabled': 'The edge cache was turned off',
  'edge_cache.purged': 'The edge cache was purged',
  'cdn.enabled': 'The CDN was turned on',
  'cdn.disabled': 'The CDN was turned off',
  'cdn.purged': 'The CDN was cleared',
  'edge_cache.defensive_mode': 'Defensive mode was turned on or off',
  'wordpress.object_cache': 'The object cache was flushed',
})

/** Webhook events for these changes. */
export const events = declareEvents(
  'enabled_edge_cache',
  'disabled_edge_cache',
  'purged_edge_cache',
  'edge_cache_defensive_mode_toggled',
)
