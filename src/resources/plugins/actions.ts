import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'plugin.install_ordered': 'Plugins were ordered to be installed',
  'plugin.installed': 'A plugin was installed and activated',
  'plugin.install_failed': 'A plugin could not be installed; the site is as it was',
  'plugin.update_ordered': 'Plugins were ordered to be updated',
  'plugin.updated': 'A plugin was updated',
  'plugin.update_failed': 'A plugin could not be updated; the site is as it was',
  'plugin.activation_ordered': 'Plugins were ordered to be activated',
  'plugin.activated': 'A plugin was activated',
  'plugin.activation_failed': 'A plugin could not be activated; the site is as it was',
  'plugin.deactivation_ordered': 'Plugins were ordered to be deactivated',
  'plugin.deactivated': 'A plugin was deactivated',
  'plugin.deactivation_failed': 'A plugin could not be deactivated; the site is as it was',
  'plugin.deletion_ordered': 'Plugins were ordered to be deleted',
  'plugin.deleted': 'A plugin was deleted',
  'plugin.delete_failed': 'A plugin could not be deleted; the site is as it was',
})

/** What webhooks tell of them. */
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
