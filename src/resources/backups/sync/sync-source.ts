import type { Config } from '../../../config.ts'
import { contentPlace, withSnapshot } from '../../../hosting/site-database/database-content.ts'
import type { FileScope, WantedEntry } from '../../../hosting/site-files/file-content.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findBackup } from '../backup.store.ts'
import { type BackupKind, nameInRepository, siteOwner } from '../backup.ts'
import { forGood } from '../restore/restore-check.ts'
import { wantedFiles } from '../restore/restore-content.ts'
import type { SyncOrder } from './sync.ts'

/** Content of the source of a sync. It can be read more than once. */
export interface SyncSource {
  /** Returns the approximate size of all its files. */
  fileBytes(): Promise<number>
  files(scope: FileScope): AsyncIterable<WantedEntry>
  /** Passes its database to `work`, as MySQL text. */
  withDatabase(work: (dump: AsyncIterable<Uint8Array>, bytes: number) => Promise<unknown>): Promise<void>
}

interface Asked {
  readonly services: HostServices
  readonly input: SyncOrder
  readonly signal: AbortSignal
}

/**
 * Returns whether all hosts share one backup storage. For a folder, this trusts the setting. A host that does not see
 * the same folder finds out before it changes anything.
 */
export const haveStorageInCommon = ({ backupS3Bucket, backupDir }: Pick<Config, 'backupS3Bucket' | 'backupDir'>) =>
  backupS3Bucket !== undefined || backupDir !== undefined

/**
 * Returns the source as it is at this moment, when its site directory is on this host.
 * @throws PermanentFailure
 */
export async function sourceHere({ services, input, signal }: Asked): Promise<SyncSource> {
  const { siteFiles, siteDatabase, siteDirectories } = services
  const found = await siteDirectories.ofSite(input.sourceId)
  if (!found) throw new PermanentFailure(`Site ${input.sourceId} has no site directory on this host`)
  const directory = contentPlace(input.sourceId, found)
  return {
    fileBytes: async () => (await siteFiles.size(directory)).bytes,
    files: (scope) => siteFiles.walk(directory, { scope, signal }),
    async withDatabase(work) {
      await withSnapshot(siteDatabase, directory, (snapshot) =>
        work(snapshot.dump({ signal }), snapshot.estimatedBytes),
      )
    },
  }
}

/**
 * Returns the source as its automatic backups show it, when it is on another host.
 * @throws PermanentFailure when this host does not find them
 */
export async function sourceInStorage({ services, input }: Asked): Promise<SyncSource> {
  const repository = services.backups.repository(siteOwner(input.sourceId))
  const names = new Map<BackupKind, { name: string; bytes: number }>()
  for (const { siteId, backupId } of input.backups) {
    const backup = siteId === input.sourceId ? await findBackup(services.database.read, siteId, backupId) : undefined
    if (!backup) continue
    const facts = await repository.find(nameInRepository(backup))
    if (!facts)
      throw new PermanentFailure(
        "The destination's host cannot read the backup of the source. To sync sites on two hosts, let both hosts use the same backup storage",
      )
    names.set(backup.kind, { name: nameInRepository(backup), bytes: facts.sizeBytes })
  }
  const of = (kind: BackupKind) => {
    const found = names.get(kind)
    if (!found) throw new PermanentFailure('Stead has no backup of the source for this sync')
    return found
  }
  return {
    fileBytes: async () => of('fs').bytes,
    files: (scope) => wantedFiles(repository, of('fs').name, scope),
    async withDatabase(work) {
      await forGood(() => work(repository.readStream(of('db').name), of('db').bytes))
    },
  }
}
