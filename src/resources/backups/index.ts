import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { problems } from './problems.ts'
import { previewRestore } from './restore/preview-restore.job.ts'
import { restoreSite } from './restore/restore-site.job.ts'
import { undoableAmong } from './restore/undoable-operations.ts'
import { expireBackups } from './schedule/expire-backups.job.ts'
import { forgetBackupsJob, forgetBackupsOfSite } from './schedule/forget-backups.job.ts'
import { planBackups, planBackupsOften } from './schedule/plan-backups.job.ts'
import { proveBackups } from './schedule/prove-backups.job.ts'
import { contentInStorage, orderCopies } from './sync/content-in-storage.ts'
import { previewSync } from './sync/preview-sync.job.ts'
import { syncSitesJob } from './sync/sync-sites.job.ts'
import { deleteBackupJob } from './take/delete-backup.job.ts'
import { measureDownload } from './take/measure-backup.job.ts'
import { takeBackupJob, takeScheduledBackup } from './take/take-backup.job.ts'

export const backups = resource({
  tag: { name: 'Backups', description: 'On-demand and scheduled backups, restores and syncs' },
  endpoints: () => import('./endpoints.ts'),
  jobs: {
    host: [
      takeBackupJob,
      takeScheduledBackup,
      measureDownload,
      deleteBackupJob,
      expireBackups,
      proveBackups,
      restoreSite,
      previewRestore,
      syncSitesJob,
      previewSync,
    ],
    control: [planBackups, forgetBackupsJob],
  },
  schedules: [planBackupsOften],
  siteHooks: { copied: orderCopies, openCopied: contentInStorage, forgotten: forgetBackupsOfSite },
  undoable: undoableAmong,
  problems,
  actions,
  events,
})
