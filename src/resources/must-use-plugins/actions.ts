import { declareActions } from '../kit/action.ts'
import { declareAccountEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  'mu_plugin.created': 'A must-use plugin was added',
  'mu_plugin.updated': 'An update of a must-use plugin was requested',
  'mu_plugin.deleted': 'A must-use plugin was deleted',
  'mu_plugin.brought': 'A must-use plugin was installed on its sites',
  'mu_plugin.refused': 'Stead could not fetch a must-use plugin, or rejected it',
})

/** Webhook events for these changes: one for each plugin, whatever the number of its sites. */
export const events = declareAccountEvents(
  'mu_plugin_install_success',
  'mu_plugin_install_failed',
  'mu_plugin_update_success',
  'mu_plugin_update_failed',
  'mu_plugin_deleted',
)
