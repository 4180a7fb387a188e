import type { BackupStore } from '../../backups/backup-store.ts'
import { walkCore } from '../../hosting/core-library/walk-core.ts'
import { CORE_BACKUP, coreOwner } from './backup.ts'

/** Who writes which core now: sites of the same one are backed up at the same time. */
const writing = new WeakMap<BackupStore, Map<string, Promise<void>>>()

/** Keeps the files of a WordPress release that sites share, once for all of them: without them an archive of a site would not stand alone. */
export async function keepCore(
  store: BackupStore,
  core: { readonly version: string; readonly corePath: string; readonly signal: AbortSignal },
): Promise<void> {
  const ofStore = writing.get(store) ?? new Map<string, Promise<void>>()
  writing.set(store, ofStore)
  const before = ofStore.get(core.version) ?? Promise.resolve()
  // whoever was before may have been canceled
  const mine = before.catch(() => {}).then(() => writeOnce(store, core))
  ofStore.set(core.version, mine)
  try {
    await mine
  } finally {
    if (ofStore.get(core.version) === mine) ofStore.delete(core.version)
  }
}

async function writeOnce(
  store: BackupStore,
  { version, corePath, signal }: { version: string; corePath: string; signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted()
  const repository = store.repository(coreOwner(version))
  if (await repository.find(CORE_BACKUP)) return
  const readBack = new Set<string>()
  await repository.writeTree(walkCore(corePath), { name: CORE_BACKUP, signal, readBack })
  await repository.verify(CORE_BACKUP, { signal, readBack })
}
