import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'plugin.install_ordered': 'An installation of plugins was requested',
  'plugin.installed': 'A plugin was installed and activated',
  'plugin.install_failed': 'Installing a plugin failed, and the site was left unchanged',
  'plugin.update_ordered': 'An update of plugins was requested',
  'plugin.updated': 'A plugin was updated',
  'plugin.update_failed': 'Updating a plugin failed, and the site was left unchanged',
  'plugin.activation_ordered': 'An activation of plugins was requested',
  'plugin.activated': 'A plugin was activated',
  'plugin.activation_failed': 'Activating a plugin failed, and the site was left unchanged',
  'plugin.deactivation_ordered': 'A deactivation of plugins was requested',
  'plugin.deactivated': 'A plugin was deactivated',
  'plugin.deactivation_failed': 'Deactivating a plugin failed, and the site was left unchanged',
  'plugin.deletion_ordered': 'A deletion of plugins was requested',
  'plugin.deleted': 'A plugin was deleted',
  'plugin.delete_failed': 'Deleting a plugin failed, and the site was left unchanged',
})

/** Webhook events for these changes. */
export const events = declareEvents(
  'site_plugin_installed_successfully',
  'site_plugin_install_failed',
  'site_plugin_updated_successfully',
  'site_plugin_update_failed',
  'site_plugin_activated_successfully',
  'site_plugin_activation_failed',
  'site_plugin_deactivated_successfully',
  'site_plugin_deactivation_failed',
  'site_plugin_deleted_successfully',
  'site_plugin_delete_failed',
)
