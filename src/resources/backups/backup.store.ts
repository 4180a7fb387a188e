import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import {
  type Backup,
  type CompletedBackup,
  dayStart,
  deleteTimes,
  type Kind,
  MOST_ON_DEMAND,
  nameOf,
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

/** Whatever its state; `undefined` when the site has none of this id. */
export async function findBackup(tx: Tx, siteId: number, id: number): Promise<Backup | undefined> {
  return tx.selectFrom('backups').select(columns).where('id', '=', id).where('site_id', '=', siteId).executeTakeFirst()
}

/** As {@link listOnDemand} has it. */
export async function findOnDemand(tx: Tx, siteId: number, id: number): Promise<Backup | undefined> {
  const backup = await findBackup(tx, siteId, id)
  return backup?.origin === 'ondemand' && backup.state !== 'failed' ? backup : undefined
}

/** One that can be read, restored and downloaded. */
export async function findCompleted(tx: Tx, siteId: number, id: number): Promise<CompletedBackup | undefined> {
  const backup = await findBackup(tx, siteId, id)
  return backup?.state === 'completed' ? (backup as CompletedBackup) : undefined
}

/** More than a site can have by schedule, by hand and by restores. */
const MOST_LISTED = 1000

/** Newest first, by the moment that they show. */
export async function listCompleted(tx: Tx, siteId: number, kind: Kind): Promise<CompletedBackup[]> {
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

/** Those of both kinds, newest first; one that is being removed is among them, one that failed is not. */
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

/** The newest complete one of a kind, however it came to be. */
export async function newestCompleted(tx: Tx, siteId: number, kind: Kind): Promise<CompletedBackup | undefined> {
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

/** When the newest complete backup of each of these sites shows it; sites without one are left out. */
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

/** How many backups of a site's database were completed since the last one that was tried out. */
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
 * Notes which backups of a kind the storage has lost something of.
 * @param damaged what is lost, by the name in the storage; of all others nothing is
 * @returns those of which it was not known
 */
export async function setDamage(
  tx: Tx,
  { siteId, kind }: Pick<Backup, 'siteId' | 'kind'>,
  damaged: ReadonlyMap<string, string>,
): Promise<CompletedBackup[]> {
  const fresh: CompletedBackup[] = []
  for (const backup of await listCompleted(tx, siteId, kind)) {
    const damage = damaged.get(nameOf(backup)) ?? null
    if (damage === backup.damage) continue
    await change(tx, backup.id, { damage })
    if (backup.damage === null) fresh.push({ ...backup, damage })
  }
  return fresh
}

/** What the newest complete backup of a site's database lacks, in words. */
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

/** How many more on-demand backups of a kind a site may have. Hold the site: two who ask at once would both get the last one. */
export async function freeSlots(tx: Tx, siteId: number, kind: Kind): Promise<number> {
  const { count } = await tx
    .selectFrom('backups')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('origin', '=', 'ondemand')
    // what is going makes room at once: nobody should have to wait for it
    .where('state', 'in', ['creating', 'completed'])
    .executeTakeFirstOrThrow()
  return Math.max(0, MOST_ON_DEMAND - Number(count))
}

export interface NewBackup {
  readonly siteId: number
  readonly kind: Kind
  readonly origin: Origin
  /** Name and address; null: Stead itself. */
  readonly createdBy: string | null
  readonly deleteAt: number
  readonly now: number
}

/** A backup that is to be taken. */
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

/** Which work it waits for. */
export const setOperation = (tx: Tx, id: number, operationId: number) => change(tx, id, { operation_id: operationId })

/** It may be taken once more, or is about to be taken. */
export const markCreating = (tx: Tx, id: number) => change(tx, id, { state: 'creating', error: null })

/** It could not be taken; nothing of it is in the storage. */
export const markFailed = (tx: Tx, id: number, values: { error: string; deleteAt: number }) =>
  change(tx, id, { state: 'failed', error: values.error, delete_at: values.deleteAt })

/** From now on nobody can use it, and nobody can bring it back. */
export const markDeleting = (tx: Tx, id: number, now: number) => change(tx, id, { state: 'deleting', delete_at: now })

/** Before its row goes, nothing of it may be in the storage any more. */
export async function forgetBackup(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('backups').where('id', '=', id).execute()
}

export async function forgetBackupsOf(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('backup_schedules').where('site_id', '=', siteId).execute()
  await tx.deleteFrom('backups').where('site_id', '=', siteId).execute()
}

/** It is in the storage and was read back. Says how long it stays, and how long those before it stay still. */
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

async function hasScheduledSince(tx: Tx, siteId: number, kind: Kind, since: number): Promise<boolean> {
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

/** Writes anew when on-demand backups of a kind go: after one was completed, or is on its way out. */
export async function retain(tx: Tx, siteId: number, kind: Kind): Promise<void> {
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
