import type { BackupStore } from '../../../backups/backup-store.ts'
import { walkCore } from '../../../hosting/core-library/walk-core.ts'
import { CORE_BACKUP, coreOwner } from '../backup.ts'
import { againIfDamaged, orRemove } from './read-back.ts'

interface Release {
  readonly version: string
  readonly corePath: string
  /** How old its last read-back may be. Default: 0. */
  readonly trustMs?: number | undefined
  readonly signal: AbortSignal
}

/** What this process knows about a storage. */
interface Kept {
  /** Writes in progress, by release. Sites of the same release are backed up at the same time. */
  readonly writing: Map<string, Promise<void>>
  /**
   * When a release was read back, in milliseconds since some moment. A release that is merely stored may come from a
   * process that died before reading it back.
   */
  readonly readBack: Map<string, number>
}
const ofStores = new WeakMap<BackupStore, Kept>()

function keptOf(store: BackupStore): Kept {
  const kept = ofStores.get(store) ?? { writing: new Map(), readBack: new Map() }
  ofStores.set(store, kept)
  return kept
}

/** Stores the files of a WordPress release once for all sites. Without them, a site's archive would be incomplete. */
export async function keepCore(store: BackupStore, release: Release): Promise<void> {
  const { version } = release
  const kept = keptOf(store)
  const before = kept.writing.get(version) ?? Promise.resolve()
  // The previous writer may have been canceled.
  const mine = before.catch(() => {}).then(() => writeOnce(store, kept, release))
  kept.writing.set(version, mine)
  try {
    await mine
  } finally {
    if (kept.writing.get(version) === mine) kept.writing.delete(version)
  }
}

/** Stores a release. Removes damaged data, and writes it again at once from the files that sites run on. */
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

/**
 * Reads the files of a release. If they are damaged, the next file backup of a site on this release writes them again.
 * @throws BackupDamaged, BackupMissing
 */
export async function verifyCore(store: BackupStore, version: string, signal: AbortSignal): Promise<void> {
  try {
    await store.repository(coreOwner(version)).verify(CORE_BACKUP, { signal })
  } catch (error) {
    keptOf(store).readBack.delete(version)
    throw error
  }
}
