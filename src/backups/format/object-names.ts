/*
 * Names of objects, below the folder of their owner:
 *
 * packs/<id>                 chunks
 * indexes/<id>               tables of packs
 * backups/<name>.tree|stream a backup: written last, which makes it exist
 * marks/<pack>-<ms>-<why>    a mark of a pack: since when (milliseconds UTC) and why new backups must not reuse it
 */
export const OBJECT_KINDS = ['tree', 'stream'] as const
export type ObjectKind = (typeof OBJECT_KINDS)[number]

export const packName = (owner: string, pack: string): string => `${owner}/packs/${pack}`
export const indexName = (owner: string, index: string): string => `${owner}/indexes/${index}`
export const backupName = (owner: string, name: string, kind: ObjectKind): string => `${owner}/backups/${name}.${kind}`

/** Why a pack is marked: no backup needs it, or its content is damaged. */
export type MarkReason = 'unneeded' | 'damaged'
export interface Mark {
  readonly name: string
  readonly pack: string
  readonly since: number
  readonly reason: MarkReason
}

export const markName = (owner: string, { pack, since, reason }: Omit<Mark, 'name'>): string =>
  `${owner}/marks/${pack}-${since}-${reason}`

export function markOf(name: string): Mark | undefined {
  const [, pack, since, reason] = /\/marks\/([0-9a-f]{32})-(\d{1,15})-(unneeded|damaged)$/.exec(name) ?? []
  return pack ? { name, pack, since: Number(since), reason: reason as MarkReason } : undefined
}

/** Returns the part after the last `/`. */
export const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

/**
 * Checks an owner.
 * @throws when it is not the name of a single folder
 */
export function checkOwner(owner: string): string {
  if (!/^[a-z0-9][a-z0-9.-]{0,99}$/.test(owner)) throw new Error(`not an owner of backups: ${owner}`)
  return owner
}

export function checkName(name: string): string {
  if (!/^[a-z0-9-]{1,100}$/.test(name)) throw new Error(`not a name of a backup: ${name}`)
  return name
}
