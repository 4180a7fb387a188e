import { deleteOndemandBackup } from './delete-ondemand-backup.ts'
import { downloadBackup } from './download/download-backup.ts'
import { downloadOndemandBackup } from './download/download-ondemand-backup.ts'
import { getOndemandBackup } from './get-ondemand-backup.ts'
import { listBackups } from './list-backups.ts'
import { listDatabaseBackups } from './list-database-backups.ts'
import { listFilesystemBackups } from './list-filesystem-backups.ts'
import { listOndemandBackups } from './list-ondemand-backups.ts'
import { getRestorePreview } from './restore/get-restore-preview.ts'
import { restoreSiteEndpoint } from './restore/restore-site.ts'
import { undoOperation } from './restore/undo-operation.ts'
import { syncSites } from './sync/sync-sites.ts'
import { createOndemandBackup } from './take/create-ondemand-backup.ts'

/** In the order of the API description. */
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
