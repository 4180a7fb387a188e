import type { Tx } from '../../../platform/db/database.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { StoredContent } from '../../kit/site-content.ts'
import type { Site } from '../../sites/public.ts'
import { findBackup } from '../backup.store.ts'
import { type BackupKind, nameInRepository, siteOwner } from '../backup.ts'
import { forGood } from '../restore/restore-check.ts'
import { wantedFiles } from '../restore/restore-content.ts'
import { keptCore } from '../take/kept-core.ts'
import { requestBackups } from '../take/take-backup.job.ts'

/* How a host gets the content of a site that is on another host. */

/**
 * Orders backups of a site for another host, which keeps them for a week. First the database, because files are uploaded
 * before the database mentions them.
 */
export async function orderCopies(tx: Tx, site: Site, { now }: { readonly now: number }) {
  const ordered = await requestBackups(tx, site, ['db', 'fs'], { origin: 'undo', createdBy: null, now })
  return {
    backups: ordered.map(({ backupId }) => backupId),
    operations: ordered.map(({ operationId }) => operationId),
  }
}

/**
 * Returns the content of a site as backups show it.
 * @throws PermanentFailure when one was not completed, or this host does not find it
 */
export async function contentInStorage(
  services: HostServices,
  siteId: number,
  backups: readonly number[],
): Promise<StoredContent> {
  const repository = services.backups.repository(siteOwner(siteId))
  const names = new Map<BackupKind, { name: string; bytes: number }>()
  for (const id of backups) {
    const backup = await findBackup(services.database.read, siteId, id)
    if (backup?.state !== 'completed')
      throw new PermanentFailure(`Backup ${id} of site ${siteId} was not completed. Request the copy again`)
    const facts = await repository.find(nameInRepository(backup))
    if (!facts)
      throw new PermanentFailure(
        "The destination's host cannot read the backup of the source. To copy between two hosts, let both hosts use the same backup storage",
      )
    names.set(backup.kind, { name: nameInRepository(backup), bytes: facts.sizeBytes })
  }
  const of = (kind: BackupKind) => {
    const found = names.get(kind)
    if (!found) throw new PermanentFailure('Stead has no backup of the source for this copy')
    return found
  }
  return {
    fileBytes: async () => of('fs').bytes,
    files: (scope) => wantedFiles(repository, of('fs').name, scope),
    async withDatabase(work) {
      await forGood(() => work(repository.readStream(of('db').name), of('db').bytes))
    },
    core: keptCore(services),
  }
}
