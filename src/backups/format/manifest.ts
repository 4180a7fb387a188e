import type { BackupFacts } from '../backup-store.ts'
import { open, type RepositoryKeys, seal } from './keys.ts'
import type { Kind } from './names.ts'

/** What a backup is: facts, and the chunks of its listing, in order. */
export interface Manifest extends BackupFacts {
  readonly listing: readonly string[]
  /** Packs that were written for it. */
  readonly packs: readonly string[]
  /** Packs of earlier backups with chunks of this one, as they lay when it was written. */
  readonly leansOn: readonly string[]
  /** Of a tree: packs of both that were read back whole, when, and when the storage says that they were written. Absent in older backups. */
  readonly checks?: readonly (readonly [pack: string, at: number, modifiedAt: number])[]
}

const purposeOf = ({ owner }: RepositoryKeys, name: string, kind: Kind): string => `${kind} ${name} of ${owner}`

export const sealManifest = (keys: RepositoryKeys, manifest: Manifest): Buffer =>
  seal(keys.sealing, [Buffer.from(JSON.stringify(manifest))], purposeOf(keys, manifest.name, manifest.kind))

/** @throws when it is not what was written under this name */
export const openManifest = (keys: RepositoryKeys, name: string, kind: Kind, sealed: Buffer): Manifest =>
  JSON.parse(open(keys.sealing, sealed, purposeOf(keys, name, kind)).toString())

export const factsOf = ({ listing: _, packs: __, leansOn: ___, checks: ____, ...facts }: Manifest): BackupFacts => facts
