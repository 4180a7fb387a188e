import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'backup.created': 'An on-demand backup was asked for',
  'backup.deleted': 'An on-demand backup was deleted',
  'backup.limited': 'A database backup does not have everything, or only MariaDB can restore everything that it has',
  'backup.damaged': 'The storage of backups has lost a part of some, and the site does not have it any more',
  'backup.failed': 'A backup could not be taken',
  'site.sync_ordered': 'A sync from another site was ordered',
  'site.synced': 'A site was overwritten with data of another one',
  'site.sync_failed': 'A sync failed, and the site is as it was',
  'site.sync_out_ordered': 'A sync from this site to another one was ordered',
  'site.synced_out': 'Data of this site was copied to another one by a sync',
  'site.sync_out_failed': 'A sync from this site to another one failed',
  'backup.proof_failed': 'A backup was restored to see that it works, and did not',
  'backup.downloaded': 'A backup was downloaded',
  'site.restore_ordered': 'A restore of a site from backups was ordered',
  'site.restore_out_ordered': 'A restore of backups of this site onto another site was ordered',
  'site.restore_previewed': 'Somebody asked what a restore of a site would lose',
  'site.restore_undo_ordered': 'The undo of a restore or a sync was ordered',
  'site.restored': 'A site was restored from backups',
  'site.restore_failed': 'A site could not be restored, and is as it was',
})

/** What webhooks tell of them. */
export const events = declareEvents(
  'ondemand_backup_created',
  'ondemand_backup_deleted',
  'site_restored',
  'site_restore_failed',
  'site_sync_success',
  'site_sync_failed',
)
