/** What other folders may import from this resource. */
export { findBackup, listCompleted, newestTakenOf } from './backup.store.ts'
export {
  type BackupKind,
  CORE_BACKUP,
  type CompletedBackup,
  coreOwner,
  nameInRepository,
  siteOfOwner,
  siteOwner,
  TRUST_MS,
} from './backup.ts'
export { Downloads } from './download/downloads.ts'
export { problems } from './problems.ts'
export { previewOfSync } from './restore/restore.store.ts'
export { forGood } from './restore/restore-check.ts'
export { wantedFiles, whatStays } from './restore/restore-content.ts'
export {
  aheadOf,
  type CreatedUndoPoint,
  copyingAhead,
  forgetFilesAhead,
  forgetUnfinished,
  keeping,
  keepUndoPoint,
} from './restore/undo-point.ts'
export { requestScheduled } from './schedule/plan-backups.job.ts'
export { backupNumber, enterUnderNewId, reconcileBackups } from './schedule/reconcile-backups.ts'
export { requestSync, requestSyncPreview } from './sync/request-sync.ts'
export { rightsOfSync, type SyncOrder } from './sync/sync.ts'
export { SyncPreview } from './sync/sync-preview.ts'
export { deleteBackupJob } from './take/delete-backup.job.ts'
export { keepCore } from './take/keep-core.ts'
export { keptCore } from './take/kept-core.ts'
export { takeBackup } from './take/take-backup.ts'
