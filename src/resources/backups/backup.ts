import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { DAY_MS } from '../../platform/durations.ts'

/** `fs`: the files of a site. `db`: its database. */
export const kinds = ['fs', 'db'] as const
export type BackupKind = (typeof kinds)[number]

/** `undo`: taken by Stead before it overwrites something of the site. */
export const origins = ['ondemand', 'scheduled', 'undo'] as const
export type Origin = (typeof origins)[number]

/** Backup of one part of a site, as the code sees it. */
export interface Backup {
  /** Unique across all kinds and sites. */
  readonly id: number
  readonly siteId: number
  readonly kind: BackupKind
  readonly origin: Origin
  /** `failed`: kept for a retry, and not shown anywhere. */
  readonly state: 'creating' | 'completed' | 'deleting' | 'failed'
  /** Milliseconds UTC, like the other times. */
  readonly requestedAt: number
  /** The moment that the backup shows. Null until completed, like `completedAt` and `bytes`. */
  readonly takenAt: number | null
  readonly completedAt: number | null
  readonly deleteAt: number
  readonly bytes: number | null
  /** File backups only: size of the downloadable archive. Null while unknown. */
  readonly archiveBytes: number | null
  /** File backups only: the WordPress version that the site ran on. */
  readonly coreVersion: string | null
  /** Name and address of the requester, or null for Stead itself. */
  readonly createdBy: string | null
  readonly operationId: number | null
  /** Name in the storage: see {@link nameInRepository}. */
  readonly name: string | null
  /** Description of what the storage has lost of it. Everything else can be restored. */
  readonly damage: string | null
}

/** Backup that can be read, restored and downloaded. */
export type CompletedBackup = Backup & {
  readonly state: 'completed'
  readonly takenAt: number
  readonly completedAt: number
  readonly bytes: number
}

export const BackupId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Returns the size of a backup's download, or null while unknown. */
export const downloadBytes = ({
  kind,
  bytes,
  archiveBytes,
}: Pick<Backup, 'kind' | 'bytes' | 'archiveBytes'>): number | null => (kind === 'fs' ? archiveBytes : bytes)

/** Returns the owner of the repository that holds a site's backups. */
export const siteOwner = (siteId: number): string => `site-${siteId}`

/** Returns the site whose backups a repository holds. @returns undefined for repositories of Stead itself */
export function siteOfOwner(owner: string): number | 'all sites' | undefined {
  if (/^core-[0-9a-z.-]{1,90}$/.test(owner)) return 'all sites'
  const [, id] = /^site-([1-9]\d{0,14})$/.exec(owner) ?? []
  return id === undefined ? undefined : Number(id)
}

/**
 * Returns the name of a backup in its site's repository. The name has a random part because a control database that is
 * older than the storage reuses ids. Otherwise, a stored backup with the same name would be mistaken for the new one.
 */
export const nameInRepository = ({ id, name }: Pick<Backup, 'id' | 'name'>): string => name ?? `b${id}`
export const newName = (id: number): string => `b${id}-${randomBytes(8).toString('hex')}`

/**
 * Returns the owner of the repository that holds a WordPress release, once for all sites. It has one backup, {@link
 * CORE_BACKUP}.
 */
export const coreOwner = (version: string): string => `core-${version}`
export const CORE_BACKUP = 'core'

/**
 * How long data that was read back from the storage counts as sound for a new backup of each origin. An on-demand
 * backup trusts nothing. An undo point trusts what the same operation read a moment before, while the site was open. A
 * scheduled backup trusts a week, because reading costs time, and with S3 money.
 */
export const TRUST_MS: Readonly<Record<Origin, number>> = { ondemand: 0, undo: 3_600_000, scheduled: 7 * DAY_MS }

/** Limit of on-demand backups for each site and kind. */
export const MOST_ON_DEMAND = 3
/** How long undo points are kept. */
export const UNDO_KEPT_MS = 7 * DAY_MS
/** How long the newest on-demand backup of a kind is kept, and how long the others after a newer one was completed. */
export const NEWEST_KEPT_MS = 30 * DAY_MS
export const OLDER_KEPT_MS = 7 * DAY_MS

/**
 * Returns when on-demand backups of one kind of a site expire. The newest expires after 30 days. An older one expires 7
 * days after the next one was completed, but never later than its original time. So no backup disappears the moment
 * that another is taken.
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

/**
 * Returns when a scheduled backup expires. Hourly database backups are kept for 7 days. The first of each day is kept
 * as long as file backups are.
 */
export function scheduledDeleteTime(kind: BackupKind, completedAt: number, isFirstOfDay: boolean): number {
  return completedAt + (kind === 'fs' || isFirstOfDay ? NEWEST_KEPT_MS : OLDER_KEPT_MS)
}

/** Returns the last midnight before the given time, in UTC. */
export const dayStart = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS
