import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { PrintPage } from '../../hosting/page-measure/print-page.ts'
import type { PluginDirectory } from '../../hosting/plugin-directory/plugin-directory.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { LogStore } from '../../platform/log-store/log-store.ts'
import type { MailServices } from '../../platform/mail/send-mail.job.ts'
import type { Definitions } from '../../platform/operations/definition.ts'
import type { AccountHooks } from './account-hooks.ts'

/** What the control process gives to operations that need no site files. */
export interface ControlServices extends MailServices {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer
  /** The key of `sealer`. Only for the backup of the control database. */
  readonly masterKey: Buffer
  /** Seals what edges open without the master key. */
  readonly edgeSealer: Sealer
  readonly backups: BackupStore
  readonly logs: LogStore
  /** Key with which the edge recognizes Stead's own requests. */
  readonly edgeKey: string
  readonly accountHooks: readonly AccountHooks[]
  readonly pluginDirectory: PluginDirectory
  readonly printPage: PrintPage
  /** Every operation type by name. */
  readonly definitions: Definitions
}
