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

/** Whose backups these are in the storage: Stead's own. */
const OWNER = 'stead'
const FORMAT = 1

/** All of the last day are kept, and the last one of each day for as long as backups of sites are. */
const ALL_KEPT_MS = DAY_MS
const DAYS_KEPT = 30

/** What a backup of the records says before their rows. It is encrypted as all of it is, under the key of the backups. */
export interface RecordsHead {
  readonly format: typeof FORMAT
  /** Milliseconds UTC. */
  readonly takenAt: number
  /** Identity of the installation. */
  readonly installation: string
  /** Names of its hosts. */
  readonly hosts: readonly string[]
  /** Migrations that the tables have had. */
  readonly migrations: readonly string[]
  /** In base64: with it an empty machine can read what is sealed in the records. */
  readonly masterKey: string
  /** Text of the file with the keys of the first account; null where there is none (any more). */
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
 * Writes all records of the installation as they are at one moment, and what an empty machine needs to use them; then reads it back whole.
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
    // nobody shall take it for a good one
    await repository.remove(name)
    throw error
  }
  return facts
}

/** Reads a backup of the records to its end. @returns how many rows there are @throws BackupDamaged, RowsUnreadable */
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

/** @throws BackupMissing, BackupDamaged, RowsUnreadable; OperatorError for one that this program is too old for */
export async function openRecordsBackup(repository: BackupRepository, name: string): Promise<RowText<RecordsHead>> {
  const text = await readRowText<RecordsHead>(repository.readStream(name))
  if (text.head.format !== FORMAT)
    throw new OperatorError('The backup was made by another version of Stead. Update Stead.')
  return text
}

/** Newest first. Those whose heads cannot be read are left out. */
export async function listRecordsBackups(repository: BackupRepository): Promise<BackupFacts[]> {
  return (await repository.list({ onDamaged: () => {} })).toSorted((a, b) => b.createdAt - a.createdAt)
}

export interface WholeBackup {
  readonly name: string
  readonly head: RecordsHead
  /** Newer ones that cannot be used, newest first, each with what is wrong. */
  readonly damaged: readonly { readonly name: string; readonly reason: string }[]
}

/**
 * The newest backup of the records that can be read to its end: what is a little older is better than nothing.
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

/** Whether an error says that a backup is of no use, and not that the storage is away or this program too old. */
export const isUnusable = (error: unknown): error is Error =>
  error instanceof BackupDamaged || error instanceof BackupMissing || error instanceof RowsUnreadable

/** When it was taken is in its name, too: the head of a damaged one says nothing. */
const timeIn = (name: string): number => Number(/^r(\d+)$/.exec(name)?.[1] ?? 0)

/** Takes away what is older than it is kept, and what nothing can be read of any more: with that there is no knowing what is needed. */
export async function forgetRecordsBackups(repository: BackupRepository, { now, signal }: Options): Promise<number> {
  const damaged: string[] = []
  const whole = await repository.list({ onDamaged: (name) => damaged.push(name) })
  const old = [
    ...tooOld(whole, now).map(({ name }) => name),
    // a storage that gives wrong answers for some hours shall not cost anything
    ...damaged.filter((name) => now - timeIn(name) >= ALL_KEPT_MS),
  ]
  for (const name of old) await repository.remove(name)
  await repository.sweep(signal ? { signal } : {})
  return old.length
}

/** Which of them may go; never the newest. */
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
