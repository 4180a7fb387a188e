import type { BackupStore } from '../../backups/backup-store.ts'
import { walkCore } from '../../hosting/core-library/walk-core.ts'
import { CORE_BACKUP, coreOwner } from './backup.ts'
import { orRemove } from './read-back.ts'

interface Release {
  readonly version: string
  readonly corePath: string
  readonly signal: AbortSignal
}

/** Of a storage, as far as this process knows. */
interface Kept {
  /** Who writes which release now: sites of the same one are backed up at the same time. */
  readonly writing: Map<string, Promise<void>>
  /** Releases that were read back. One that is there may be of somebody who died before that. */
  readonly readBack: Set<string>
}
const ofStores = new WeakMap<BackupStore, Kept>()

function keptOf(store: BackupStore): Kept {
  const kept = ofStores.get(store) ?? { writing: new Map(), readBack: new Set() }
  ofStores.set(store, kept)
  return kept
}

/** Keeps the files of a WordPress release that sites share, once for all of them: without them an archive of a site would not stand alone. */
export async function keepCore(store: BackupStore, release: Release): Promise<void> {
  const { version } = release
  const kept = keptOf(store)
  const before = kept.writing.get(version) ?? Promise.resolve()
  // whoever was before may have been canceled
  const mine = before.catch(() => {}).then(() => writeOnce(store, kept, release))
  kept.writing.set(version, mine)
  try {
    await mine
  } finally {
    if (kept.writing.get(version) === mine) kept.writing.delete(version)
  }
}

async function writeOnce(store: BackupStore, kept: Kept, { version, corePath, signal }: Release): Promise<void> {
  signal.throwIfAborted()
  const repository = store.repository(coreOwner(version))
  if (kept.readBack.has(version) && (await repository.find(CORE_BACKUP))) return
  const readBack = new Set<string>()
  await repository.writeTree(walkCore(corePath), { name: CORE_BACKUP, signal, readBack })
  await orRemove(repository, { name: CORE_BACKUP, signal }, () => repository.verify(CORE_BACKUP, { signal, readBack }))
  kept.readBack.add(version)
}

/** Reads them. Should they be damaged, the next file backup of a site on this release writes them anew. @throws BackupDamaged, BackupMissing */
export async function verifyCore(store: BackupStore, version: string, signal: AbortSignal): Promise<void> {
  try {
    await store.repository(coreOwner(version)).verify(CORE_BACKUP, { signal })
  } catch (error) {
    keptOf(store).readBack.delete(version)
    throw error
  }
}
