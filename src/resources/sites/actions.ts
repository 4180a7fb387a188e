import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'site.created': 'A site was created',
  'site.cloned': 'A clone of a site was requested',
  'site.deployed': 'A site was installed or cloned and is now live',
  'site.deploy_failed': 'Installing or cloning a site failed',
  'site.updated': 'Settings of a site were changed',
  'site.moved': 'A site and its database were moved to another runtime',
  'site.move_failed': 'Moving a site to another runtime failed',
  'site.disabled': 'A site was disabled',
  'site.enabled': 'A site was enabled',
  'site.converted': 'A site was converted between live and staging',
  'site.deleted': 'A site was deleted',
  'site.undeleted': 'A deleted site was recovered',
  'site.lost': 'The database or the directory of a site is missing',
  'site.disk_full': 'A site ran out of disk space',
  'wordpress.password_reset': 'The password of the site owner was reset',
  'wordpress.recovery_mode': 'Stead sent the owner a link to the recovery mode of WordPress',
  'wordpress.safe_mode.enabled': 'Safe mode was turned on: WordPress runs without plugins',
  'wordpress.safe_mode.disabled': 'Safe mode was turned off',
})

/** Webhook events for these changes. */
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
