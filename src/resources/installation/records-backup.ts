import {
  BackupDamaged,
  type BackupFacts,
  BackupMissing,
  type BackupRepository,
  type BackupStore,
} from '../../backups/backup-store.ts'
import { installationOf } from '../../hosting/identity/identity.store.ts'
import type { Database } from '../../platform/db/database.ts'
import { appliedMigrations } from '../../platform/db/migrate.ts'
import { databaseRows } from '../../platform/db/rows/database-rows.ts'
import { RowsUnreadable, type RowText, readRowText, textOfRows } from '../../platform/db/rows/row-stream.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/** The repository of these backups in the storage, for Stead itself. */
const OWNER = 'stead'
const FORMAT = 1

/** All of the last day are kept, and the last one of each day for as long as backups of sites. */
const ALL_KEPT_MS = DAY_MS
const DAYS_KEPT = 30

/** Head of a backup of the control database, before the rows. It is encrypted with the backup key, like the rest. */
export interface RecordsHead {
  readonly format: typeof FORMAT
  /** Milliseconds UTC. */
  readonly takenAt: number
  /** Identity of the installation. */
  readonly installation: string
  /** Names of its hosts. */
  readonly hosts: readonly string[]
  /** Migrations that were applied to the tables. */
  readonly migrations: readonly string[]
  /** In base64. With it, an empty machine can open the sealed values in the database. */
  readonly masterKey: string
  /** Content of the file with the first account's credentials, or null if it does not exist. */
  readonly credentials: string | null
}

export interface RecordsParts {
  readonly database: Pick<Database, 'atOneMoment'>
  readonly backups: BackupStore
  readonly masterKey: Buffer
  readonly credentials: string | null
}

interface Options {
  readonly now: number
  readonly signal?: AbortSignal
}

export const recordsRepository = (backups: BackupStore): BackupRepository => backups.repository(OWNER)

/**
 * Backs up the control database as of one moment, with what an empty machine needs to restore it. Then reads the backup
 * back completely.
 * @throws StorageFailure, BackupDamaged
 */
export async function backUpRecords(parts: RecordsParts, { now, signal }: Options): Promise<BackupFacts> {
  const repository = recordsRepository(parts.backups)
  const name = `r${now}`
  const facts = await parts.database.atOneMoment(async (tx) => {
    const head: RecordsHead = {
      format: FORMAT,
      takenAt: now,
      installation: (await installationOf(tx))?.identity as string,
      hosts: (await tx.selectFrom('hosts').select('name').orderBy('id').execute()).map(({ name: host }) => host),
      migrations: await appliedMigrations(tx),
      masterKey: parts.masterKey.toString('base64'),
      credentials: parts.credentials,
    }
    return repository.writeStream(textOfRows(databaseRows(tx), head), { name, ...(signal && { signal }) })
  })
  try {
    await verifyRecords(repository, name, signal)
  } catch (error) {
    // Nothing may take it for a good one.
    await repository.remove(name)
    throw error
  }
  return facts
}

/**
 * Reads a backup of the control database to its end.
 * @returns the number of rows
 * @throws BackupDamaged, RowsUnreadable
 */
export async function verifyRecords(repository: BackupRepository, name: string, signal?: AbortSignal): Promise<number> {
  const { rows } = await openRecordsBackup(repository, name)
  let count = 0
  for (const table of await rows.tables())
    for await (const batch of rows.rows(table)) {
      signal?.throwIfAborted()
      count += batch.length
    }
  return count
}

/** @throws BackupMissing, BackupDamaged, RowsUnreadable; OperatorError for a backup that is too new for this program */
export async function openRecordsBackup(repository: BackupRepository, name: string): Promise<RowText<RecordsHead>> {
  const text = await readRowText<RecordsHead>(repository.readStream(name))
  if (text.head.format !== FORMAT)
    throw new OperatorError('The backup was created by another version of Stead. Update Stead.')
  return text
}

/** Returns the backups, newest first. Omits those whose heads cannot be read. */
export async function listRecordsBackups(repository: BackupRepository): Promise<BackupFacts[]> {
  return (await repository.list({ onDamaged: () => {} })).toSorted((a, b) => b.createdAt - a.createdAt)
}

export interface WholeBackup {
  readonly name: string
  readonly head: RecordsHead
  /** Newer backups that cannot be used, newest first, each with the reason. */
  readonly damaged: readonly { readonly name: string; readonly reason: string }[]
}

/**
 * Returns the newest backup that can be read to its end, because a slightly older one is better than none.
 * @returns `name` undefined when there is none
 */
export async function newestWholeBackup(
  repository: BackupRepository,
  signal?: AbortSignal,
): Promise<WholeBackup | { readonly name: undefined; readonly damaged: WholeBackup['damaged'] }> {
  const names: string[] = []
  const stored = await repository.list({ onDamaged: (name) => names.push(name) })
  names.push(...stored.map(({ name }) => name))
  const damaged: { name: string; reason: string }[] = []
  for (const name of names.toSorted((a, b) => timeIn(b) - timeIn(a)))
    try {
      await verifyRecords(repository, name, signal)
      return { name, head: (await openRecordsBackup(repository, name)).head, damaged }
    } catch (error) {
      if (!isUnusable(error)) throw error
      damaged.push({ name, reason: error.message })
    }
  return { name: undefined, damaged }
}

/**
 * Returns whether an error means that a backup is useless, rather than that the storage is away or this program too
 * old.
 */
export const isUnusable = (error: unknown): error is Error =>
  error instanceof BackupDamaged || error instanceof BackupMissing || error instanceof RowsUnreadable

/** Returns when a backup was taken, from its name, because the head of a damaged one cannot be read. */
const timeIn = (name: string): number => Number(/^r(\d+)$/.exec(name)?.[1] ?? 0)

/**
 * Removes expired backups, and those of which nothing can be read: with such a backup, a sweep cannot know what is
 * needed.
 */
export async function forgetRecordsBackups(repository: BackupRepository, { now, signal }: Options): Promise<number> {
  const damaged: string[] = []
  const whole = await repository.list({ onDamaged: (name) => damaged.push(name) })
  const old = [
    ...tooOld(whole, now).map(({ name }) => name),
    // A storage that returns wrong data for some hours must not cost anything.
    ...damaged.filter((name) => now - timeIn(name) >= ALL_KEPT_MS),
  ]
  for (const name of old) await repository.remove(name)
  await repository.sweep(signal ? { signal } : {})
  return old.length
}

/** Returns which backups may be removed, never the newest. */
export function tooOld<Each extends Pick<BackupFacts, 'createdAt'>>(all: readonly Each[], now: number): Each[] {
  const newestFirst = all.toSorted((a, b) => b.createdAt - a.createdAt)
  const days = new Set<number>()
  return newestFirst.filter(({ createdAt }, place) => {
    const day = Math.floor(createdAt / DAY_MS)
    const isLastOfDay = !days.has(day)
    days.add(day)
    if (place === 0 || now - createdAt < ALL_KEPT_MS) return false
    return !isLastOfDay || now - createdAt >= DAYS_KEPT * DAY_MS
  })
}
