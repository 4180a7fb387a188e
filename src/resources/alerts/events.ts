import { declareAccountEvents, declareEvents } from '../webhooks/public.ts'

/** Webhook events of alerts about sites. The event of a site that is down is that of monitoring. */
const siteEvents = declareEvents(
  'certificate_expiring',
  'domain_elsewhere',
  'backup_failed',
  'backup_proof_failed',
  'site_disk_filling',
  'site_disk_full',
  'update_undone',
  'vulnerability_found',
  'php_errors',
  'mail_bouncing',
  'alert_resolved',
)

/** Webhook events of alerts about the installation, for its operator. */
const platformEvents = declareAccountEvents(
  'host_silent',
  'host_disk_filling',
  'host_disk_full',
  'platform_certificate_expiring',
  'platform_alert_resolved',
)

export const events = { ...siteEvents, ...platformEvents }
