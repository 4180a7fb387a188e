/** What other folders may import from this resource. */
export { recordsParts, requestOwnBackup } from './back-up-records.job.ts'
export { type CleanedUp, cleanUpRestored } from './clean-up-restored.ts'
export { markLost, markRemoved, markReturned, setCordoned } from './hosts/change-host.ts'
export type { ChangedHost } from './hosts/host-changes.store.ts'
export { backedUpAt, type Housing, listHousing, setBackedUp } from './installation.store.ts'
export { type Area, areas, type FoundByChecks, type InstallationCheck } from './installation-check.ts'
export { sharedDomainFinding, takenNameFinding } from './installation-names.ts'
export {
  backUpRecords,
  isUnusable,
  listRecordsBackups,
  newestWholeBackup,
  openRecordsBackup,
  type RecordsHead,
  recordsRepository,
  verifyRecords,
  type WholeBackup,
} from './records-backup.ts'
export { takenReservedNames } from './taken-names.store.ts'
export { tellOfDatabaseServer } from './tell-of-database-server.ts'
