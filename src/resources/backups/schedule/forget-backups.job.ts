import Type from 'typebox'
import type { BackupStore } from '../../../backups/backup-store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { durableWith } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { forgetBackupsOf } from '../backup.store.ts'
import { siteOwner } from '../backup.ts'

/** Removes everything of a purged site from the storage. */
export const forgetBackupsJob = durableWith<{ readonly backups: BackupStore }>()({
  name: 'backups.forget_site',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'control',
  changeableBy: 'account',
  mustEnd: true,
  steps: {
    remove: { run: ({ services, input }) => services.backups.removeOwner(siteOwner(input.siteId)) },
  },
})

/** Deletes the rows, without which the content cannot be found. */
export async function forgetBackupsOfSite(tx: Tx, siteId: number): Promise<void> {
  await forgetBackupsOf(tx, siteId)
  await enqueue(tx, forgetBackupsJob, { siteId })
}
