import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { DAY_MS } from '../../platform/durations.ts'

export {
  completeBackup,
  findBackup,
  findCompleted,
  findOnDemand,
  forgetBackup,
  freeSlots,
  insertBackup,
  listCompleted,
  markDeleting,
  markFailed,
  newestCompleted,
  newestTakenOf,
} from './backup.store.ts'
export { orderBackup } from './take/order-backup.ts'
export { type BackupOrder, type TakenBackup, type TakingServices, takeBackup } from './take/take-backup.ts'

/** `fs`: the files of a site. `db`: its database. */
export const kinds = ['fs', 'db'] as const
export type Kind = (typeof kinds)[number]

/** `undo`: taken by Stead before something of the site is overwritten. */
export const origins = ['ondemand', 'scheduled', 'undo'] as const
export type Origin = (typeof origins)[number]

/** Backup of one part of a site, as the code sees it. */
export interface Backup {
  /** One sequence for all kinds and sites. */
  readonly id: number
  readonly siteId: number
  readonly kind: Kind
  readonly origin: Origin
  /** `failed`: kept for a retry, and shown nowhere. */
  readonly state: 'creating' | 'completed' | 'deleting' | 'failed'
  /** Milliseconds UTC, as the other times. */
  readonly requestedAt: number
  /** The moment that it shows the site at; null until completed, as `completedAt` and `bytes`. */
  readonly takenAt: number | null
  readonly completedAt: number | null
  readonly deleteAt: number
  readonly bytes: number | null
  /** Of files: what the archive has that people download; null while that is not known. */
  readonly archiveBytes: number | null
  /** Of files: the core that the site ran on. */
  readonly coreVersion: string | null
  /** Name and address of whoever asked for it; null: Stead itself. */
  readonly createdBy: string | null
  readonly operationId: number | null
  /** What it is called in the storage: {@link nameOf}. */
  readonly name: string | null
  /** What the storage has lost of it, in words: all else of it can be restored. */
  readonly damage: string | null
}

/** One that can be read, restored and downloaded. */
export type CompletedBackup = Backup & {
  readonly state: 'completed'
  readonly takenAt: number
  readonly completedAt: number
  readonly bytes: number
}

export const BackupId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** What a download of a backup has; null while that is not known. */
export const downloadBytes = ({
  kind,
  bytes,
  archiveBytes,
}: Pick<Backup, 'kind' | 'bytes' | 'archiveBytes'>): number | null => (kind === 'fs' ? archiveBytes : bytes)

/** Whose repository a site's backups are in. */
export const siteOwner = (siteId: number): string => `site-${siteId}`

/**
 * Name of a backup in its site's repository. It has a random part: records that are older than the storage give ids out again, and a backup that is
 * found complete by its name would be taken for the one that is to be made.
 */
export const nameOf = ({ id, name }: Pick<Backup, 'id' | 'name'>): string => name ?? `b${id}`
export const newName = (id: number): string => `b${id}-${randomBytes(8).toString('hex')}`

/** Where the files of a WordPress release are kept, once for all sites; the repository has one backup, {@link CORE_BACKUP}. */
export const coreOwner = (version: string): string => `core-${version}`
export const CORE_BACKUP = 'core'

/**
 * How long what was read back of a storage counts as sound for a new backup of each origin. An on-demand backup trusts nothing. An undo point trusts
 * what the same operation has read a moment before, while the site was open. A scheduled one trusts a week: reading costs time, and with S3 money.
 */
export const TRUST_MS: Readonly<Record<Origin, number>> = { ondemand: 0, undo: 3_600_000, scheduled: 7 * DAY_MS }

/** On-demand backups of a site, of each kind. */
export const MOST_ON_DEMAND = 3
/** What is kept before something is overwritten. */
export const UNDO_KEPT_MS = 7 * DAY_MS
/** The newest on-demand one of a kind, and for how long the others outlast the completion of a newer one. */
export const NEWEST_KEPT_MS = 30 * DAY_MS
export const OLDER_KEPT_MS = 7 * DAY_MS

/**
 * When on-demand backups of one kind of a site go: the newest after 30 days; an older one 7 days after the next one was completed, so that
 * none goes in the moment in which another is made, and never later than it would have gone anyway.
 * @param completed in any order
 */
export function deleteTimes(
  completed: readonly { readonly id: number; readonly completedAt: number }[],
): { id: number; deleteAt: number }[] {
  const newestFirst = completed.toSorted((a, b) => b.completedAt - a.completedAt || b.id - a.id)
  return newestFirst.map(({ id, completedAt }, index) => {
    const next = newestFirst[index - 1]?.completedAt ?? Number.POSITIVE_INFINITY
    return { id, deleteAt: Math.min(completedAt + NEWEST_KEPT_MS, next + OLDER_KEPT_MS) }
  })
}

/** When a scheduled backup goes: databases are kept every hour for 7 days, and then one of each day, until files go, too. */
export function scheduledDeleteTime(kind: Kind, completedAt: number, isFirstOfDay: boolean): number {
  return completedAt + (kind === 'fs' || isFirstOfDay ? NEWEST_KEPT_MS : OLDER_KEPT_MS)
}

/** Midnight before it, UTC. */
export const dayStart = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS
