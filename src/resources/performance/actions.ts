import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.lightweight_404.enabled': 'Lightweight 404 answers for missing files were switched on',
  'wordpress.lightweight_404.disabled': 'Lightweight 404 answers for missing files were switched off',
  'wordpress.multisite.enabled': 'Multisite support was switched on',
  'wordpress.multisite.disabled': 'Multisite support was switched off',
  'wordpress.maintenance_mode': 'Maintenance mode was ordered to be switched',
})

/** What webhooks tell of them. */
export const events = declareEvents('light_weight_404_changed', 'site_maintenance_mode_toggled')
