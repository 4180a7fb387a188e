import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { deleteBackupJob } from './delete-backup.job.ts'
import { expireBackups } from './expire-backups.job.ts'
import { forgetBackupsJob, forgetSite } from './forget-backups.job.ts'
import { planBackups, planBackupsOften } from './plan-backups.job.ts'
import { previewRestore } from './preview-restore.job.ts'
import { problems } from './problems.ts'
import { proveBackups } from './prove-backups.job.ts'
import { restoreSite } from './restore-site.job.ts'
import { syncSitesJob } from './sync-sites.job.ts'
import { takeBackupJob, takeScheduledBackup } from './take-backup.job.ts'
import { undoable } from './undoable.ts'

export const backups = resource({
  tag: { name: 'Backups', description: 'On-demand and scheduled backups, restores and syncs' },
  endpoints: () => import('./endpoints.ts'),
  jobs: {
    host: [
      takeBackupJob,
      takeScheduledBackup,
      deleteBackupJob,
      expireBackups,
      proveBackups,
      restoreSite,
      previewRestore,
      syncSitesJob,
    ],
    control: [planBackups, forgetBackupsJob],
  },
  schedules: [planBackupsOften],
  siteHooks: { forgotten: forgetSite },
  undoable,
  problems,
  actions,
  events,
})
