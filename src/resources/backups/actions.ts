import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'backup.created': 'An on-demand backup was requested',
  'backup.deleted': 'An on-demand backup was deleted',
  'backup.limited': 'A database backup is incomplete, or only MariaDB can restore all of it',
  'backup.damaged': 'The backup storage lost data of a backup, and the site no longer has that data',
  'backup.failed': 'A backup failed',
  'site.sync_ordered': 'A sync from another site was requested',
  'site.sync_previewed': 'A preview of a sync from another site was requested',
  'site.synced': 'A sync overwrote a site with data from another site',
  'site.sync_failed': 'A sync failed, and the site was left unchanged',
  'site.sync_out_ordered': 'A sync from this site to another site was requested',
  'site.synced_out': 'A sync copied data of this site to another site',
  'site.sync_out_failed': 'A sync from this site to another site failed',
  'backup.proof_failed': 'A test restore of a backup failed',
  'backup.downloaded': 'A backup was downloaded',
  'site.restore_ordered': 'A restore of a site from backups was requested',
  'site.restore_out_ordered': "A restore of this site's backups onto another site was requested",
  'site.restore_previewed': 'A preview of a restore was requested',
  'site.restore_undo_ordered': 'The undo of a restore or a sync was requested',
  'site.restored': 'A site was restored from backups',
  'site.restore_failed': 'A restore failed, and the site was left unchanged',
})

/** Webhook events for these changes. */
export const events = declareEvents(
  'ondemand_backup_created',
  'ondemand_backup_deleted',
  'site_restored',
  'site_restore_failed',
  'site_sync_success',
  'site_sync_failed',
)
