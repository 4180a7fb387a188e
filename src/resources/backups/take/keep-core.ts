import type { BackupStore } from '../../../backups/backup-store.ts'
import { walkCore } from '../../../hosting/core-library/walk-core.ts'
import { CORE_BACKUP, coreOwner } from '../backup.ts'
import { againIfDamaged, orRemove } from './read-back.ts'

interface Release {
  readonly version: string
  readonly corePath: string
  /** How long ago it may have been read back. Default: 0. */
  readonly trustMs?: number | undefined
  readonly signal: AbortSignal
}

/** Of a storage, as far as this process knows. */
interface Kept {
  /** Who writes which release now: sites of the same one are backed up at the same time. */
  readonly writing: Map<string, Promise<void>>
  /** When a release was read back, milliseconds since some moment. One that is there may be of a process that died before that. */
  readonly readBack: Map<string, number>
}
const ofStores = new WeakMap<BackupStore, Kept>()

function keptOf(store: BackupStore): Kept {
  const kept = ofStores.get(store) ?? { writing: new Map(), readBack: new Map() }
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

/** What is damaged is removed, and written again at once from the files that sites run on. */
async function writeOnce(store: BackupStore, kept: Kept, release: Release): Promise<void> {
  const { version, trustMs = 0, signal } = release
  const readAt = kept.readBack.get(version) ?? Number.NEGATIVE_INFINITY
  signal.throwIfAborted()
  if (performance.now() - readAt < trustMs && (await store.repository(coreOwner(version)).find(CORE_BACKUP))) return
  await againIfDamaged(() => writeAndReadBack(store, release))
  kept.readBack.set(version, performance.now())
}

async function writeAndReadBack(store: BackupStore, { version, corePath, signal }: Release): Promise<void> {
  const repository = store.repository(coreOwner(version))
  const readBack = new Set<string>()
  await repository.writeTree(walkCore(corePath), { name: CORE_BACKUP, signal, readBack })
  await orRemove(repository, { name: CORE_BACKUP, signal }, () => repository.verify(CORE_BACKUP, { signal, readBack }))
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
