import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { findBackup } from '../backup.store.ts'
import type { Backup } from '../backup.ts'
import { measureBackup } from './measure-backup.ts'

type Context = StepContext<{ siteId: number; backupId: number }, HostServices>

/**
 * Measures the download of a file backup that was completed without it, because it was too large or other work waited
 * for the backup.
 */
export const measureDownload = durableWith<HostServices>()({
  name: 'backup.measure',
  input: Type.Object({ siteId: Type.Integer(), backupId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  atOnce: 1,
  steps: { measure: { run: measure } },
})

/** Enqueues the measurement of a backup that completes now. It holds up nothing else of its site. */
export async function measureLater(
  tx: Tx,
  { id: backupId, siteId }: Pick<Backup, 'id' | 'siteId'>,
  { accountId, hostId }: { readonly accountId: number | null; readonly hostId: number },
): Promise<void> {
  await enqueue(tx, measureDownload, { siteId, backupId }, { accountId, hostId, source: ROUTINE })
}

/** Measures in rounds. Each stores what it learned, so a crash costs one round. They end with the backup at the latest. */
async function measure({ services, input, signal, progress }: Context): Promise<number | null> {
  for (;;) {
    const backup = await findBackup(services.database.read, input.siteId, input.backupId)
    if (backup?.state !== 'completed') return null
    if (backup.archiveBytes !== null) return backup.archiveBytes
    await measureBackup(services, backup, { signal, progress })
  }
}
