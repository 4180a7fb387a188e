import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { migrations } from '../../../migrations/index.ts'
import type { BackupRepository, BackupStore } from '../../backups/backup-store.ts'
import { becomeAnotherLeaseHolder, leaseHolder, takeLeaseOver } from '../../backups/repository-lease.ts'
import type { Config } from '../../config.ts'
import { forgetSeen } from '../../hosting/host.store.ts'
import { folderFacts, nameHost, writeIdentity } from '../../hosting/identity/folder.ts'
import { databaseFacts } from '../../hosting/identity/identity.store.ts'
import { masterKeyFile, readMasterKey } from '../../platform/crypto/master-key.ts'
import { type Database, openDatabase, type Tx } from '../../platform/db/database.ts'
import { knowsAll, migrateIn } from '../../platform/db/migrate.ts'
import { openFault } from '../../platform/db/open-fault.ts'
import { fillDatabase, NotEmpty } from '../../platform/db/rows/fill-database.ts'
import { lastGivenId } from '../../platform/db/sequences.ts'
import { syncFolder, writeFileDurably, writeFileOnce } from '../../platform/files/write-file.ts'
import { type CleanedUp, cleanUpRestored } from '../../resources/installation/clean-up-restored.ts'
import {
  isUnusable,
  newestWholeBackup,
  openRecordsBackup,
  type RecordsHead,
  recordsRepository,
  verifyRecords,
  type WholeBackup,
} from '../../resources/installation/records-backup.ts'
import { backupStorage } from '../../resources/kit/open-backups.ts'
import { describeControlDatabase } from '../../roles/process-context.ts'
import { usableDataFolder } from '../../roles/start/data-folder.ts'
import { openWithKey } from '../open-with-key.ts'
import { CommandError } from '../output.ts'
import { type BackupKey, whileStopped } from '../with-control-database.ts'

type Settings = Pick<Config, BackupKey>

export interface RestoreOptions {
  /** The printed backup key. Without it, the settings must have the master key. */
  readonly key: string | undefined
  /** The name of a backup of the control database, by default the newest. */
  readonly backup: string | undefined
  /** The host that the data folder becomes, if there are several. */
  readonly host: string | undefined
  /** Whether the storage stays with the original installation. This copy then makes no backups. */
  readonly isTrial: boolean
  readonly onProgress: (doing: string) => void
}

export interface Restored extends CleanedUp {
  readonly backup: string
  /** Newer backups that were skipped, with the reasons. */
  readonly damaged: WholeBackup['damaged']
  /** The time of the restored state, RFC 3339. */
  readonly of: string
  readonly database: string
  /** The host that the data folder is from now on, or null if there was none. */
  readonly host: string | null
}

/**
 * Turns an empty data folder and an empty database into those of the installation whose backups a storage contains. The
 * content of sites follows when its hosts start. After an interruption at any moment, it can be run again.
 * @throws OperatorError
 */
export async function restoreInstallation(config: Settings, options: RestoreOptions): Promise<Restored> {
  const { dataDir } = config
  const backups = await openWithKey(config, options.key)
  const repository = recordsRepository(backups)
  options.onProgress('Looking for backups of the control database')
  const { name, head, damaged } = await chosenBackup(repository, options.backup, backupStorage(config).where)
  knowsAll(migrations, head.migrations)
  const host = chosenHost(head, options.host)
  await usableDataFolder(dataDir)
  return whileStopped(dataDir, async () => {
    await mustBeEmpty(config, head)
    await writeKeys(config, head)
    const hold = async (database: Database) => {
      if (!options.isTrial) await takeLeaseOver(backupStorage(config), await leaseHolder(database), Date.now())
    }
    const plan = { repository, name, head, backups, hold, onProgress: options.onProgress }
    const settled = config.databaseUrl ? await fillPostgres(config, plan, host) : await fillSqlite(config, plan, host)
    return {
      backup: name,
      damaged,
      of: new Date(head.takenAt).toISOString(),
      database: describeControlDatabase(config),
      host,
      ...settled,
    }
  })
}

/**
 * Returns the requested backup, or the newest intact one. It is read to its end before anything is written.
 * @throws CommandError
 */
async function chosenBackup(repository: BackupRepository, wanted: string | undefined, where: string) {
  if (wanted === undefined) {
    const found = await newestWholeBackup(repository)
    if (found.name !== undefined) return found
    if (found.damaged.length === 0) throw new CommandError(`${where} does not contain a backup of a control database.`)
    const each = found.damaged.map(({ name, reason }) => `${name}: ${reason}`).join('\n')
    throw new CommandError(
      `Stead cannot read any backup of a control database in ${where}. Nothing was changed.\n${each}`,
    )
  }
  try {
    await verifyRecords(repository, wanted)
    return { name: wanted, head: (await openRecordsBackup(repository, wanted)).head, damaged: [] }
  } catch (error) {
    if (!isUnusable(error)) throw error
    throw new CommandError(
      `The backup ${wanted} is unusable: ${error.message} Without --backup, Stead uses the newest complete backup. Nothing was changed.`,
      { cause: error },
    )
  }
}

function chosenHost({ hosts }: RecordsHead, wanted: string | undefined): string | null {
  if (wanted !== undefined) {
    if (!hosts.includes(wanted)) throw new CommandError(`Unknown host ${wanted}. Available: ${hosts.join(', ')}`)
    return wanted
  }
  if (hosts.length > 1)
    throw new CommandError(
      `The installation had several hosts. Choose the host for this folder: --host=${hosts.join(' or --host=')}`,
    )
  return hosts[0] ?? null
}

/**
 * Checks that the folder is empty, apart from the rest of an earlier attempt.
 * @throws CommandError
 */
async function mustBeEmpty({ dataDir, databaseUrl, masterKey }: Settings, head: RecordsHead): Promise<void> {
  const { identity, siteDirectories } = await folderFacts(dataDir)
  if (
    siteDirectories > 0 ||
    existsSync(join(dataDir, 'stead.db')) ||
    (identity && identity.installation !== head.installation)
  )
    throw new CommandError(
      `The data folder ${dataDir} is in use. Choose an empty folder (STEAD_DATA_DIR). Nothing was changed.`,
    )
  const key = Buffer.from(head.masterKey, 'base64')
  const other = masterKey ?? (await readMasterKey(masterKeyFile({ dataDir })))
  if (other && !other.equals(key))
    throw new CommandError(
      `${masterKey ? 'STEAD_MASTER_KEY' : masterKeyFile({ dataDir })} is not the master key of this control database. Omit it, because the backup contains the correct key. Nothing was changed.`,
    )
  if (databaseUrl) return
  for (const end of ['', '-wal', '-shm', '-notices'])
    await rm(`${unfinished(dataDir)}${end}`, { force: true, recursive: true })
}

const unfinished = (dataDir: string): string => join(dataDir, 'stead.db.restoring')

async function writeKeys({ dataDir, masterKey }: Settings, head: RecordsHead): Promise<void> {
  if (!masterKey) await writeFileOnce(masterKeyFile({ dataDir }), head.masterKey, 0o600)
  if (head.credentials !== null) await writeFileDurably(join(dataDir, 'credentials.json'), head.credentials, 0o600)
}

interface Plan {
  readonly repository: BackupRepository
  readonly name: string
  readonly head: RecordsHead
  readonly backups: BackupStore
  /** Takes the lease of the storage, once the database is filled. */
  readonly hold: (database: Database) => Promise<void>
  readonly onProgress: (doing: string) => void
}

/** Fills the SQLite file, which gets its name last: until then nothing can start on the folder. */
async function fillSqlite({ dataDir }: Settings, plan: Plan, host: string | null): Promise<CleanedUp> {
  const file = unfinished(dataDir)
  const database = await openDatabase({ file })
  let settled: CleanedUp
  try {
    settled = await fill(database, plan)
    await becomeHost(database, dataDir, host)
    await plan.hold(database)
  } finally {
    await database.close()
  }
  await rm(`${file}-notices`, { force: true, recursive: true })
  await rename(file, join(dataDir, 'stead.db'))
  await syncFolder(dirname(file))
  return settled
}

async function fillPostgres({ dataDir, databaseUrl }: Settings, plan: Plan, host: string | null): Promise<CleanedUp> {
  const where = { url: databaseUrl, file: '' }
  let database: Database | undefined
  try {
    database = await openDatabase(where)
    const settled = await fill(database, plan)
    await becomeHost(database, dataDir, host)
    await plan.hold(database)
    return settled
  } catch (error) {
    throw openFault(error, where)
  } finally {
    await database?.close()
  }
}

async function fill(database: Database, { repository, name, head, backups, onProgress }: Plan): Promise<CleanedUp> {
  const had = new Set(head.migrations)
  const then = Object.fromEntries(Object.entries(migrations).filter(([each]) => had.has(each)))
  let settled: CleanedUp = { sites: 0, withoutBackup: [], unknown: [] }
  const finish = async (tx: Tx) => {
    await migrateIn(tx, migrations)
    await forgetSeen(tx)
    await becomeAnotherLeaseHolder(tx)
    onProgress('Looking for backups of sites')
    settled = await cleanUpRestored(tx, backups, Date.now())
  }
  try {
    await fillDatabase(database, async () => (await openRecordsBackup(repository, name)).rows, {
      migrations: then,
      onCopied: ({ table, rows }) => onProgress(`Restoring ${table}, ${rows} rows`),
      onCompared: ({ table, rows }) => onProgress(`Comparing ${table}, ${rows} rows`),
      finish,
    })
  } catch (error) {
    if (!(error instanceof NotEmpty)) throw error
    // This is another host's folder, or the retry of an interrupted attempt: the database is already filled.
    if ((await databaseFacts(database)).installation !== head.installation)
      throw new CommandError(
        'The PostgreSQL database is not empty. Create an empty database (createdb). Nothing was changed.',
      )
  }
  return settled
}

/**
 * Makes the folder this host's from now on. Its site directories come from backups. Any free user ids of this machine
 * are used for sites.
 */
async function becomeHost(database: Database, dataDir: string, name: string | null): Promise<void> {
  const { installation, hosts } = await databaseFacts(database)
  const host = hosts.find((each) => each.name === name)
  if (!host || installation === null || host.identity === null) return
  await nameHost(dataDir, host.name)
  const lastHome = await lastGivenId(database.read, 'site_homes')
  await writeIdentity(dataDir, { installation, host: host.identity, epoch: host.epoch, lastHome, firstUser: null })
}
