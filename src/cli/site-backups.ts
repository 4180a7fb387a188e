import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { archiveBytes } from '../backups/archive/archive.ts'
import { ArchiveLengths } from '../backups/archive/archive-lengths.ts'
import { Bzip2Threads } from '../backups/archive/bzip2-threads.ts'
import { BackupDamaged, type BackupFacts, type BackupStore } from '../backups/backup-store.ts'
import type { Config } from '../config.ts'
import { masterKeyFile, readMasterKey } from '../platform/crypto/master-key.ts'
import type { ColumnValue, TableRow } from '../platform/db/rows/table-rows.ts'
import { writeFileOnce } from '../platform/files/write-file.ts'
import { timestamp } from '../platform/http/schemas.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { CORE_BACKUP, coreOwner, siteOwner } from '../resources/backups/backup.ts'
import { backupNumber } from '../resources/backups/schedule/reconcile-backups.ts'
import { newestWholeBackup, openRecordsBackup, recordsRepository } from '../resources/installation/records-backup.ts'
import type { Call } from './command.ts'
import { openWithKey } from './open-with-key.ts'
import { CommandError, diskError, printRows } from './output.ts'
import type { BackupKey } from './with-control-database.ts'

type Settings = Pick<Config, BackupKey>

interface OfSite {
  readonly site: string
  /** The printed backup key. Without it, the master key is required. */
  readonly key: string | undefined
}

/** A backup of a site in the storage. */
export interface SiteBackup {
  readonly backup: number
  /** Its name in the storage. */
  readonly name: string
  readonly kind: 'files' | 'database' | 'damaged'
  /** RFC 3339; null if unknown. */
  readonly of: string | null
  readonly bytes: number | null
}

/**
 * Returns the backups of a site in the storage, newest first. It needs neither the control database nor a running
 * Stead.
 * @throws OperatorError
 */
export async function siteBackups(config: Settings, { site, key }: OfSite): Promise<SiteBackup[]> {
  return inStorage(await open(config, key), siteNumber(site))
}

/**
 * Writes backups of a site to files, in the same form as the API's downloads. It needs the storage and its key, but
 * neither the control database nor a running Stead. A file gets its name when it is complete, and existing files are
 * not overwritten.
 * @param order.backup the number of one; by default the newest of files and of the database
 * @returns paths of the files
 * @throws OperatorError
 */
export async function exportSite(
  config: Settings,
  order: OfSite & { readonly backup: string | undefined; readonly to: string },
): Promise<string[]> {
  const siteId = siteNumber(order.site)
  const backups = await open(config, order.key)
  const all = await inStorage(backups, siteId)
  const wanted =
    order.backup === undefined
      ? (['files', 'database'] as const).flatMap((kind) => all.find((each) => each.kind === kind) ?? [])
      : all.filter(({ backup }) => String(backup) === order.backup)
  if (wanted.length === 0)
    throw new CommandError(
      `The storage does not contain this backup of site ${siteId}. To list backups, run stead backup list --site=${siteId}`,
    )
  await mkdir(order.to, { recursive: true }).catch((error) => {
    throw diskError(order.to, error)
  })
  const written: string[] = []
  for (const each of wanted) {
    const end = each.kind === 'files' ? 'tar.bz2' : 'sql'
    const file = resolve(order.to, `site-${siteId}-backup-${each.backup}.${end}`)
    await writeWhole(file, contentOf(backups, siteId, each))
    written.push(file)
  }
  return written
}

/** Runs `stead backup list --site=ID`. */
export async function listOfSite({ config, flags }: Call<OfSite, BackupKey>): Promise<void> {
  const rows = await siteBackups(config, flags)
  printRows(
    rows.map((row) => ({ ...row })),
    flags.json,
  )
}

/** Runs `stead backup export`. */
export async function exportFiles({
  config,
  flags,
}: Call<OfSite & { backup: string | undefined; to: string | undefined }, BackupKey>): Promise<void> {
  const files = await exportSite(config, { ...flags, to: flags.to ?? '.' })
  printRows(
    files.map((file) => ({ file })),
    flags.json,
  )
}

const siteNumber = (text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`--site: ${text} is not the number of a site`)
  return Number(text)
}

/** Opens the storage. It also accepts the key file of this data folder, if it still exists. */
async function open(config: Settings, key: string | undefined): Promise<BackupStore> {
  const masterKey = config.masterKey ?? (key === undefined ? await readMasterKey(masterKeyFile(config)) : undefined)
  return openWithKey({ ...config, masterKey }, key)
}

async function inStorage(backups: BackupStore, siteId: number): Promise<SiteBackup[]> {
  const damaged: SiteBackup[] = []
  const onDamaged = (name: string) =>
    damaged.push({ backup: backupNumber(name) ?? 0, name, kind: 'damaged', of: null, bytes: null })
  const whole = (await backups.repository(siteOwner(siteId)).list({ onDamaged })).flatMap(describeBackups)
  return [...whole, ...damaged].toSorted((a, b) => b.backup - a.backup)
}

const describeBackups = ({ name, kind, createdAt, sizeBytes }: BackupFacts): SiteBackup[] => {
  const backup = backupNumber(name)
  if (backup === undefined) return []
  return [{ backup, name, kind: kind === 'tree' ? 'files' : 'database', of: timestamp(createdAt), bytes: sizeBytes }]
}

async function* contentOf(backups: BackupStore, siteId: number, { name, backup, kind }: SiteBackup) {
  const repository = backups.repository(siteOwner(siteId))
  const own = { repository, name }
  if (kind === 'damaged') throw new BackupDamaged(`Stead cannot read the header of backup ${backup} of site ${siteId}.`)
  if (kind === 'database') return yield* repository.readStream(own.name)
  const version = await coreOf(backups, siteId, backup)
  const core = { repository: backups.repository(coreOwner(version)), name: CORE_BACKUP }
  const threads = new Bzip2Threads(1)
  const { signal } = new AbortController()
  try {
    yield* archiveBytes([core, own], 0, { lengths: new ArchiveLengths(), threads, signal })
  } finally {
    await threads.close()
  }
}

/**
 * Returns the WordPress version that completes a backup of files. Only a backup of the control database in the storage
 * contains it.
 * @throws CommandError
 */
async function coreOf(backups: BackupStore, siteId: number, backup: number): Promise<string> {
  const repository = recordsRepository(backups)
  const { name } = await newestWholeBackup(repository)
  if (name === undefined)
    throw new CommandError(
      'The storage has no complete backup of the control database, which contains the WordPress version of the site.',
    )
  const { rows } = await openRecordsBackup(repository, name)
  let ofBackup: ColumnValue | undefined
  let ofSite: ColumnValue | undefined
  for (const table of await rows.tables()) {
    const at = (column: string) => table.columns.findIndex((each) => each.name === column)
    const versionWhere = (batch: readonly TableRow[], column: string, id: number) =>
      batch.find((row) => row[at(column)] === BigInt(id))?.[at('core_version')]
    for await (const batch of rows.rows(table)) {
      if (table.name === 'backups') ofBackup ??= versionWhere(batch, 'id', backup)
      // The backup is newer than that of the control database.
      if (table.name === 'site_homes') ofSite ??= versionWhere(batch, 'site_id', siteId)
    }
  }
  const version = ofBackup ?? ofSite
  if (typeof version === 'string') return version
  throw new CommandError(`The backup of the control database does not contain the WordPress version of site ${siteId}.`)
}

/** @throws CommandError when the file exists, the backup cannot be read, or the file cannot be written */
async function writeWhole(file: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    if (await writeFileOnce(file, content, 0o600)) return
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw diskError(file, error)
  }
  throw new CommandError(`${file} already exists. Nothing was overwritten.`)
}
