import { createOndemandBackup } from './create-ondemand-backup.ts'
import { deleteOndemandBackup } from './delete-ondemand-backup.ts'
import { downloadBackup } from './download-backup.ts'
import { downloadOndemandBackup } from './download-ondemand-backup.ts'
import { getOndemandBackup } from './get-ondemand-backup.ts'
import { getRestorePreview } from './get-restore-preview.ts'
import { listBackups } from './list-backups.ts'
import { listDatabaseBackups } from './list-database-backups.ts'
import { listFilesystemBackups } from './list-filesystem-backups.ts'
import { listOndemandBackups } from './list-ondemand-backups.ts'
import { restoreSiteEndpoint } from './restore-site.ts'
import { syncSites } from './sync-sites.ts'
import { undoOperation } from './undo-operation.ts'

/** In the order of the description of the API. */
export const endpoints = [
  listOndemandBackups,
  createOndemandBackup,
  getOndemandBackup,
  downloadOndemandBackup,
  deleteOndemandBackup,
  listBackups,
  listFilesystemBackups,
  listDatabaseBackups,
  downloadBackup,
  restoreSiteEndpoint,
  getRestorePreview,
  undoOperation,
  syncSites,
]
