import { BackupDamaged } from '../backup-store.ts'
import type { RepositoryKeys } from '../format/keys.ts'
import { type Manifest, openManifest } from '../format/manifest.ts'
import { backupName, checkName, lastPart, OBJECT_KINDS, type ObjectKind } from '../format/object-names.ts'
import type { Storage } from '../storage/storage.ts'
import type { ChunkOpener } from './chunk-opener.ts'

/** The basis of all work on the backups of one owner. */
export interface RepositoryParts {
  readonly storage: Storage
  readonly keys: RepositoryKeys
  /** Shared by all owners. */
  readonly opener: ChunkOpener
  /** Milliseconds UTC. */
  readonly now: () => number
  /**
   * Marks a pack with damaged content: new backups do not reuse it, and the next one rewrites its chunks. Does nothing
   * in a storage that this process only reads, or if the storage fails, so that reading continues.
   */
  readonly markDamaged: (pack: string) => Promise<void>
}

/** @throws BackupDamaged */
export async function findManifest(parts: RepositoryParts, name: string): Promise<Manifest | undefined> {
  checkName(name)
  for (const kind of OBJECT_KINDS) {
    const found = await readManifest(parts, name, kind)
    if (found) return found
  }
  return undefined
}

/** @throws BackupDamaged */
export async function readManifest(
  { storage, keys }: Pick<RepositoryParts, 'storage' | 'keys'>,
  name: string,
  kind: ObjectKind,
): Promise<Manifest | undefined> {
  const sealed = await storage.get(backupName(keys.owner, name, kind))
  if (!sealed) return undefined
  try {
    return openManifest(keys, name, kind, sealed)
  } catch (error) {
    throw new BackupDamaged(`The header of backup ${name} of ${keys.owner} is damaged: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}

export interface BackupObject {
  readonly name: string
  readonly kind: ObjectKind
  readonly modifiedAt: number
}

/** Returns the existing backups, without reading them. */
export async function listBackupObjects({
  storage,
  keys,
}: Pick<RepositoryParts, 'storage' | 'keys'>): Promise<BackupObject[]> {
  const objects = await storage.list(`${keys.owner}/backups/`)
  return objects.flatMap((object) => {
    const [, name, kind] = /^([a-z0-9-]+)\.(tree|stream)$/.exec(lastPart(object.name)) ?? []
    return name ? [{ name, kind: kind as ObjectKind, modifiedAt: object.modifiedAt }] : []
  })
}

/** Returns the tree that was completed last, of those that are readable. */
export async function newestTree(parts: RepositoryParts): Promise<Manifest | undefined> {
  const trees = (await listBackupObjects(parts)).filter(({ kind }) => kind === 'tree')
  trees.sort((one, other) => other.modifiedAt - one.modifiedAt || (one.name < other.name ? 1 : -1))
  for (const { name } of trees) {
    const manifest = await readManifest(parts, name, 'tree').catch((error) => {
      if (error instanceof BackupDamaged) return undefined
      throw error
    })
    if (manifest) return manifest
  }
  return undefined
}
