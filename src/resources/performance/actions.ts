import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.lightweight_404.enabled': 'Lightweight 404 responses for missing files were turned on',
  'wordpress.lightweight_404.disabled': 'Lightweight 404 responses for missing files were turned off',
  'wordpress.multisite.enabled': 'Multisite support was turned on',
  'wordpress.multisite.disabled': 'Multisite support was turned off',
  'wordpress.maintenance_mode': 'A change of maintenance mode was requested',
})

/** Webhook events for these changes. */
export const events = declareEvents('light_weight_404_changed', 'site_maintenance_mode_toggled')
