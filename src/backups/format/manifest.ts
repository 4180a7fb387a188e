import type { BackupFacts } from '../backup-store.ts'
import { open, type RepositoryKeys, seal } from './keys.ts'
import type { ObjectKind } from './object-names.ts'

/** The description of a backup: facts, and the chunks of its listing, in order. */
export interface Manifest extends BackupFacts {
  readonly listing: readonly string[]
  /** The packs that were written for it. */
  readonly packs: readonly string[]
  /** Packs of earlier backups that contain chunks of this one, as of when it was written. */
  readonly leansOn: readonly string[]
  /**
   * For a tree: the packs of both lists that were read back completely, when, and their write time according to the
   * storage. Absent in older backups.
   */
  readonly checks?: readonly (readonly [pack: string, at: number, modifiedAt: number])[]
}

const purposeOf = ({ owner }: RepositoryKeys, name: string, kind: ObjectKind): string => `${kind} ${name} of ${owner}`

export const sealManifest = (keys: RepositoryKeys, manifest: Manifest): Buffer =>
  seal(keys.sealing, [Buffer.from(JSON.stringify(manifest))], purposeOf(keys, manifest.name, manifest.kind))

/** @throws when it is not what was written under this name */
export const openManifest = (keys: RepositoryKeys, name: string, kind: ObjectKind, sealed: Buffer): Manifest =>
  JSON.parse(open(keys.sealing, sealed, purposeOf(keys, name, kind)).toString())

export const factsOf = ({ listing: _, packs: __, leansOn: ___, checks: ____, ...facts }: Manifest): BackupFacts => facts
