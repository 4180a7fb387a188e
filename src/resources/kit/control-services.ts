import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { LogStore } from '../../platform/log-store/log-store.ts'
import type { MailServices } from '../../platform/mail/send-mail.job.ts'
import type { Definitions } from '../../platform/operations/definition.ts'

/** What the control gives to the operations that need no site files. */
export interface ControlServices extends MailServices {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer
  /** What `sealer` seals under: for the backup of the records, and nothing else. */
  readonly masterKey: Buffer
  readonly backups: BackupStore
  readonly logs: LogStore
  /** By which the edge knows requests of Stead itself. */
  readonly edgeKey: string
  /** Every type of background work by name. */
  readonly definitions: Definitions
}
