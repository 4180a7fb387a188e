import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { type Backup, type CompletedBackup, downloadBytes, kinds, origins } from './backup.ts'

const BackupTime = { examples: ['2026-01-31 09:30:00'] }

/** On-demand backup, as the API shows it. */
export const OndemandBackup = Type.Object(
  {
    id: nullable(Type.String({ description: 'Null until the backup is completed', examples: ['12'] })),
    siteId: Type.Integer(),
    completed: nullable(Type.Integer({ description: 'Unix time', examples: [1769852000] })),
    status: oneOf(['creating', 'completed', 'deleting']),
    type: oneOf(kinds, { description: 'Files or database' }),
    bytes: nullable(
      Type.String({
        description:
          'Size of the download in bytes. Null until the backup is completed. For very large file backups, and file backups taken by a sync, Stead sets it some time later',
        examples: ['73400320'],
      }),
    ),
    requested: Type.Integer({ description: 'Unix time', examples: [1769852000] }),
    backupTimestamp: nullable(Type.String({ description: 'Time that the backup shows, in UTC', ...BackupTime })),
    createdBy: Type.String({ examples: ['Ada (ada@example.com)'] }),
    removedIn: Type.String({ description: 'Time until Stead deletes the backup', examples: ['30 days'] }),
    deleteAt: Type.Integer({
      description: 'Unix time. Moves to an earlier time when a newer backup is completed',
      examples: [1772444000],
    }),
  },
  { title: 'OndemandBackup' },
)

/** On-demand backup that was just requested. */
export const OrderedBackup = Type.Object(
  {
    ...OndemandBackup.properties,
    requestId: Type.Integer({ description: 'The `id` of the backup once it is completed', examples: [12] }),
  },
  { title: 'OrderedBackup' },
)

/** Fields that a list adds to each backup on request. */
const BackupDetails = Type.Object(
  {
    origin: oneOf(origins, {
      description:
        '`ondemand`: requested. `scheduled`: taken by Stead every night or hour. `undo`: taken before a change',
    }),
    createdBy: nullable(Type.String({ description: 'Null: Stead', examples: ['Ada (ada@example.com)'] })),
    bytes: Type.Integer({ description: 'Size of the files, or of the dump', examples: [73_400_320] }),
    deleteAt: Timestamp,
    damage: nullable(
      Type.String({ description: 'What the storage lost of it. The rest can be restored', examples: [null] }),
    ),
  },
  { title: 'BackupDetails' },
)

/** Query parameter of the lists that show one kind. */
export const includeDetails = {
  include: Type.Optional(
    oneOf(['details'], {
      description: 'An addition of Stead. Adds `details` to each backup: its reason, size, end, and damage',
    }),
  ),
}

/** File or database backup in a list. */
export const ListedBackup = Type.Object(
  {
    id: Type.String({ examples: ['12'] }),
    site_id: Type.Integer(),
    backup_timestamp: Type.String({ description: 'Time that the backup shows, in UTC', ...BackupTime }),
    type: oneOf(kinds),
    title: Type.String({ examples: ['Files of 2026-01-31 09:30 (on-demand)'] }),
    formatted_timestamp: Timestamp,
    details: Type.Optional(BackupDetails),
  },
  { title: 'Backup' },
)

/** Database backup, with the files that belong to it. */
export const BackupPair = Type.Object(
  {
    timestamp: Type.String({ description: 'Time of the database backup, in UTC', examples: ['2026-01-31-09-30'] }),
    siteId: Type.Integer(),
    databaseBackupId: Type.Integer(),
    filesystemBackupId: nullable(
      Type.Integer({ description: 'The latest file backup taken before the database backup' }),
    ),
  },
  { title: 'BackupPair' },
)

const seconds = (ms: number): number => Math.floor(ms / 1000)
/** Formats a time as `YYYY-MM-DD HH:MM:SS`. */
const spaced = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

/** @param backup must not have failed */
export function presentOndemand(backup: Backup, now: number): Type.Static<typeof OndemandBackup> {
  const { id, siteId, completedAt, state, kind, requestedAt, takenAt, createdBy, deleteAt } = backup
  const bytes = completedAt === null ? null : downloadBytes(backup)
  return {
    id: completedAt === null ? null : String(id),
    siteId,
    completed: completedAt && seconds(completedAt),
    status: state as Exclude<typeof state, 'failed'>,
    type: kind,
    bytes: bytes === null ? null : String(bytes),
    requested: seconds(requestedAt),
    backupTimestamp: takenAt === null ? null : spaced(takenAt),
    createdBy: createdBy ?? '',
    removedIn: inLargestUnit(deleteAt - now),
    deleteAt: seconds(deleteAt),
  }
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Formats milliseconds in the largest unit that fits, such as "30 days". */
export function inLargestUnit(ms: number): string {
  for (const [unit, lengthMs] of units) {
    const count = Math.round(ms / lengthMs)
    if (ms >= lengthMs) return `${count} ${unit}${count === 1 ? '' : 's'}`
  }
  return 'less than a minute'
}

const titles = { fs: 'Files', db: 'Database' } as const
const originTitles = { ondemand: ' (on-demand)', scheduled: '', undo: ' (before an overwrite)' } as const

export function presentListedBackup(backup: CompletedBackup, include?: 'details'): Type.Static<typeof ListedBackup> {
  const { id, siteId, kind, origin, takenAt, damage } = backup
  return {
    id: String(id),
    site_id: siteId,
    backup_timestamp: spaced(takenAt),
    type: kind,
    title: `${titles[kind]} of ${spaced(takenAt).slice(0, 16)}${damage === null ? '' : ', damaged'}${originTitles[origin]}`,
    formatted_timestamp: timestamp(takenAt),
    ...(include && { details: detailsOf(backup) }),
  }
}

function detailsOf(backup: CompletedBackup): Type.Static<typeof BackupDetails> {
  const { origin, createdBy, bytes, deleteAt, damage } = backup
  return { origin, createdBy, bytes, deleteAt: timestamp(deleteAt), damage }
}

/**
 * Pairs each database with the newest files that are not newer than it.
 * @param databases newest first
 * @param files newest first
 */
export function pairs(
  databases: readonly CompletedBackup[],
  files: readonly CompletedBackup[],
): Type.Static<typeof BackupPair>[] {
  return databases.map(({ id, siteId, takenAt }) => ({
    timestamp: spaced(takenAt).slice(0, 16).replace(/[ :]/g, '-'),
    siteId,
    databaseBackupId: id,
    filesystemBackupId: files.find((each) => each.takenAt <= takenAt)?.id ?? null,
  }))
}
