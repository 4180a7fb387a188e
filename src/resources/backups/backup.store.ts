import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import {
  type Backup,
  type BackupKind,
  type CompletedBackup,
  dayStart,
  deleteTimes,
  MOST_ON_DEMAND,
  nameInRepository,
  newName,
  type Origin,
  scheduledDeleteTime,
} from './backup.ts'
import type { BackupRow } from './tables.ts'

const columns = [
  'id',
  'site_id as siteId',
  'kind',
  'origin',
  'state',
  'requested_at as requestedAt',
  'taken_at as takenAt',
  'completed_at as completedAt',
  'delete_at as deleteAt',
  'bytes',
  'archive_bytes as archiveBytes',
  'core_version as coreVersion',
  'created_by as createdBy',
  'operation_id as operationId',
  'name',
  'damage',
] as const

/** Returns a backup in any state, or `undefined` when the site has no backup with this id. */
export async function findBackup(tx: Tx, siteId: number, id: number): Promise<Backup | undefined> {
  return tx.selectFrom('backups').select(columns).where('id', '=', id).where('site_id', '=', siteId).executeTakeFirst()
}

/** Returns one of the backups that {@link listOnDemand} lists. */
export async function findOnDemand(tx: Tx, siteId: number, id: number): Promise<Backup | undefined> {
  const backup = await findBackup(tx, siteId, id)
  return backup?.origin === 'ondemand' && backup.state !== 'failed' ? backup : undefined
}

/** Returns a backup that can be read, restored and downloaded. */
export async function findCompleted(tx: Tx, siteId: number, id: number): Promise<CompletedBackup | undefined> {
  const backup = await findBackup(tx, siteId, id)
  return backup?.state === 'completed' ? (backup as CompletedBackup) : undefined
}

/** More backups than a site can have from the schedule, requests and restores together. */
const MOST_LISTED = 1000

/** Returns completed backups, newest first by the moment that they show. */
export async function listCompleted(tx: Tx, siteId: number, kind: BackupKind): Promise<CompletedBackup[]> {
  const rows = await tx
    .selectFrom('backups')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('state', '=', 'completed')
    .orderBy('taken_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_LISTED)
    .execute()
  return rows as CompletedBackup[]
}

/** Returns on-demand backups of both kinds, newest first. Includes those being removed, but not those that failed. */
export async function listOnDemand(tx: Tx, siteId: number): Promise<Backup[]> {
  return tx
    .selectFrom('backups')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('origin', '=', 'ondemand')
    .where('state', '!=', 'failed')
    .orderBy('id', 'desc')
    .execute()
}

/** Returns the newest completed backup of a kind, whatever its origin. */
export async function newestCompleted(tx: Tx, siteId: number, kind: BackupKind): Promise<CompletedBackup | undefined> {
  const row = await tx
    .selectFrom('backups')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('state', '=', 'completed')
    .orderBy('taken_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row as CompletedBackup | undefined
}

/** Returns the moment that the newest completed backup of each site shows. Omits sites without one. */
export async function newestTakenOf(tx: Tx, siteIds: readonly number[]): Promise<Map<number, number>> {
  if (siteIds.length === 0) return new Map()
  const rows = await tx
    .selectFrom('backups')
    .select(({ fn }) => ['site_id', fn.max<number | null>('taken_at').as('taken_at')])
    .where('site_id', 'in', siteIds)
    .where('state', '=', 'completed')
    .groupBy('site_id')
    .execute()
  return new Map(rows.flatMap((row) => (row.taken_at === null ? [] : [[row.site_id, Number(row.taken_at)]])))
}

/** Counts the database backups of a site that were completed since the last one that was test-loaded. */
export async function untriedSince(tx: Tx, siteId: number): Promise<number> {
  const ofDatabase = tx
    .selectFrom('backups')
    .where('site_id', '=', siteId)
    .where('kind', '=', 'db')
    .where('state', '=', 'completed')
  const last = await ofDatabase
    .where('tried_out', '=', 1)
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst()
  const { count } = await ofDatabase
    .where('id', '>', last?.id ?? 0)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Records which backups of a kind the storage has lost data of.
 * @param damaged the lost data, keyed by the backup's name in the storage. Backups without an entry are undamaged
 * @returns the backups whose damage was not known before
 */
export async function setDamage(
  tx: Tx,
  { siteId, kind }: Pick<Backup, 'siteId' | 'kind'>,
  damaged: ReadonlyMap<string, string>,
): Promise<CompletedBackup[]> {
  const fresh: CompletedBackup[] = []
  for (const backup of await listCompleted(tx, siteId, kind)) {
    const damage = damaged.get(nameInRepository(backup)) ?? null
    if (damage === backup.damage) continue
    await change(tx, backup.id, { damage })
    if (backup.damage === null) fresh.push({ ...backup, damage })
  }
  return fresh
}

/** Returns a description of what the newest completed backup of a site's database lacks. */
export async function newestWarning(tx: Tx, siteId: number): Promise<string | null> {
  const row = await tx
    .selectFrom('backups')
    .select('warning')
    .where('site_id', '=', siteId)
    .where('kind', '=', 'db')
    .where('state', '=', 'completed')
    .orderBy('taken_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.warning ?? null
}

/**
 * Returns how many more on-demand backups of a kind a site may have. Hold the site, because two callers at once would
 * both get the last slot.
 */
export async function freeSlots(tx: Tx, siteId: number, kind: BackupKind): Promise<number> {
  const { count } = await tx
    .selectFrom('backups')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('origin', '=', 'ondemand')
    // A backup that is being deleted frees its slot at once, so that users need not wait for the deletion.
    .where('state', 'in', ['creating', 'completed'])
    .executeTakeFirstOrThrow()
  return Math.max(0, MOST_ON_DEMAND - Number(count))
}

export interface NewBackup {
  readonly siteId: number
  readonly kind: BackupKind
  readonly origin: Origin
  /** Name and address, or null for Stead itself. */
  readonly createdBy: string | null
  readonly deleteAt: number
  readonly now: number
}

/** Adds a backup that is still to be taken. */
export async function insertBackup(tx: Tx, values: NewBackup): Promise<Backup> {
  const { id } = await tx
    .insertInto('backups')
    .values({
      site_id: values.siteId,
      kind: values.kind,
      origin: values.origin,
      state: 'creating',
      requested_at: values.now,
      taken_at: null,
      completed_at: null,
      delete_at: values.deleteAt,
      bytes: null,
      core_version: null,
      created_by: values.createdBy,
      operation_id: null,
      error: null,
      name: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return (await change(tx, id, { name: newName(id) })) as Backup
}

async function change(tx: Tx, id: number, values: Partial<Selectable<BackupRow>>): Promise<Backup | undefined> {
  return tx.updateTable('backups').set(values).where('id', '=', id).returning(columns).executeTakeFirst()
}

/** Sets the operation that the backup waits for. */
export const setBackupOperation = (tx: Tx, id: number, operationId: number) =>
  change(tx, id, { operation_id: operationId })

/** Marks a backup that is retried or about to be taken. */
export const markCreating = (tx: Tx, id: number) => change(tx, id, { state: 'creating', error: null })

/** Marks a backup that could not be taken. The storage holds nothing of it. */
export const markFailed = (tx: Tx, id: number, values: { error: string; deleteAt: number }) =>
  change(tx, id, { state: 'failed', error: values.error, delete_at: values.deleteAt })

/** Marks a backup as being deleted. From now on it cannot be used or recovered. */
export const markDeleting = (tx: Tx, id: number, now: number) => change(tx, id, { state: 'deleting', delete_at: now })

/** Deletes the row of a backup. The storage must no longer hold anything of it. */
export async function forgetBackup(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('backups').where('id', '=', id).execute()
}

export async function forgetBackupsOf(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('backup_schedules').where('site_id', '=', siteId).execute()
  await tx.deleteFrom('backups').where('site_id', '=', siteId).execute()
}

/**
 * Marks a backup that is in the storage and was read back as completed. Sets how long it, and those before it, are
 * kept.
 */
export async function completeBackup(
  tx: Tx,
  { id, siteId, kind, origin }: Pick<Backup, 'id' | 'siteId' | 'kind' | 'origin'>,
  taken: {
    readonly takenAt: number
    readonly bytes: number
    readonly coreVersion: string | null
    readonly isTriedOut?: boolean
    readonly warning?: string
  },
  now: number,
): Promise<Backup | undefined> {
  const facts = {
    state: 'completed',
    taken_at: taken.takenAt,
    completed_at: now,
    bytes: taken.bytes,
    core_version: taken.coreVersion,
    tried_out: taken.isTriedOut ? 1 : 0,
    warning: taken.warning ?? null,
    error: null,
  } as const
  if (origin === 'scheduled') {
    const isFirstOfDay = !(await hasScheduledSince(tx, siteId, kind, dayStart(now)))
    await change(tx, id, { ...facts, delete_at: scheduledDeleteTime(kind, now, isFirstOfDay) })
  } else await change(tx, id, facts)
  if (origin === 'ondemand') await retain(tx, siteId, kind)
  return findBackup(tx, siteId, id)
}

async function hasScheduledSince(tx: Tx, siteId: number, kind: BackupKind, since: number): Promise<boolean> {
  const row = await tx
    .selectFrom('backups')
    .select('id')
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('origin', '=', 'scheduled')
    .where('completed_at', '>=', since)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Updates the expiry of on-demand backups of a kind, after one was completed or is being deleted. */
export async function retain(tx: Tx, siteId: number, kind: BackupKind): Promise<void> {
  const completed = await tx
    .selectFrom('backups')
    .select(['id', 'completed_at as completedAt'])
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('origin', '=', 'ondemand')
    .where('state', '=', 'completed')
    .execute()
  for (const { id, deleteAt } of deleteTimes(completed as { id: number; completedAt: number }[]))
    await change(tx, id, { delete_at: deleteAt })
}
