import type { components } from '../../../../sdk/api.generated.ts'

type Backup = components['schemas']['Backup']
type Details = components['schemas']['BackupDetails']
export type Kind = Backup['type']
export type Origin = Details['origin']

/** A moment to which a site can be restored: its files, its database, or both. */
export interface RestorePoint {
  /** ISO time of the restored state. */
  readonly taken: string
  readonly origin: Origin
  readonly createdBy: string | null
  readonly bytes: number
  readonly deleteAt: string
  readonly damage: readonly string[]
  readonly backups: Readonly<Partial<Record<Kind, number>>>
}

export type Detailed = Backup & { readonly details: Details }

/** Files and a database this close in time count as one backup. */
const TOGETHER_MS = 15 * 60_000

const timeOf = ({ formatted_timestamp }: Backup): number => Date.parse(formatted_timestamp)

function pointOf(backups: readonly [Detailed, ...Detailed[]]): RestorePoint {
  const [first] = backups
  return {
    taken: backups.map((each) => each.formatted_timestamp).toSorted()[0] ?? '',
    origin: first.details.origin,
    createdBy: first.details.createdBy,
    bytes: backups.reduce((sum, each) => sum + each.details.bytes, 0),
    deleteAt: backups.map((each) => each.details.deleteAt).toSorted()[0] ?? '',
    damage: backups.flatMap((each) => each.details.damage ?? []),
    backups: Object.fromEntries(backups.map((each) => [each.type, Number(each.id)])),
  }
}

/**
 * Pairs files with the nearest database of the same origin.
 * @returns newest first
 */
export function restorePoints(files: readonly Detailed[], databases: readonly Detailed[]): RestorePoint[] {
  const rest = new Set(databases)
  const points = files.map((each) => {
    const apart = (database: Detailed) => Math.abs(timeOf(database) - timeOf(each))
    const near = [...rest].filter(
      (database) => database.details.origin === each.details.origin && apart(database) <= TOGETHER_MS,
    )
    const partner = near.toSorted((a, b) => apart(a) - apart(b))[0]
    if (partner) rest.delete(partner)
    return pointOf(partner ? [each, partner] : [each])
  })
  return [...points, ...[...rest].map((each) => pointOf([each]))].toSorted((a, b) => (a.taken < b.taken ? 1 : -1))
}
