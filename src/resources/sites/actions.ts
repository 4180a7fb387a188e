import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'site.created': 'A site was created',
  'site.cloned': 'A site was ordered as a copy of another one',
  'site.deployed': 'A site was installed, or copied, and went live',
  'site.deploy_failed': 'A site could not be installed, or copied',
  'site.updated': 'Settings of a site were changed',
  'site.moved': 'A site was moved to another runtime, with its database',
  'site.move_failed': 'A site could not be moved to another runtime',
  'site.disabled': 'A site was disabled',
  'site.enabled': 'A site was enabled',
  'site.converted': 'A live site became a staging site, or the other way round',
  'site.deleted': 'A site was deleted',
  'site.undeleted': 'A deleted site was brought back',
  'site.lost': 'The database or the folder of a site was found missing',
  'site.disk_full': 'A site could not write for want of disk space',
  'wordpress.password_reset': 'The password of the site owner was reset',
  'wordpress.recovery_mode': 'The owner was sent a link to the recovery mode of WordPress',
  'wordpress.safe_mode.enabled': 'Safe mode was switched on: WordPress runs without plugins',
  'wordpress.safe_mode.disabled': 'Safe mode was switched off',
})

/** What webhooks tell of them. */
export const events = declareEvents(
  'site_created',
  'site_deleted',
  'site_converted',
  'site_enabled',
  'site_disabled',
  'php_version_changed',
  'wp_environment_type',
  'wp_admin_password_reset',
)
