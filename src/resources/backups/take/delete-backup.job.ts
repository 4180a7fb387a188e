import Type from 'typebox'
import { durableWith } from '../../../platform/operations/definition.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { events } from '../actions.ts'
import { findBackup, forgetBackup, markFailed } from '../backup.store.ts'
import { nameInRepository, siteOwner } from '../backup.ts'

/** When the storage fails to delete a backup, the job that removes expired ones retries after this time. */
const TRY_AGAIN_MS = 3_600_000

/** Removes a backup from the storage, and then its row. */
export const deleteBackupJob = durableWith<HostServices>()({
  name: 'backup.delete',
  input: Type.Object({ siteId: Type.Integer(), backupId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'use backups' },
  mustEnd: true,
  steps: {
    remove: {
      async run({ services, input }) {
        const { siteId, backupId } = input
        const backup = await findBackup(services.database.read, siteId, backupId)
        if (backup) await services.backups.repository(siteOwner(siteId)).remove(nameInRepository(backup))
      },
    },
    gone: {
      async commit(tx, context) {
        const { siteId, backupId } = context.input
        const backup = await findBackup(tx, siteId, backupId)
        if (!backup) return
        await forgetBackup(tx, backupId)
        const data = { id: String(backupId), type: backup.kind }
        await changeOfJob(tx, context).tell({ type: events.ondemand_backup_deleted, data })
      },
    },
    sweep: {
      async run({ services, input, signal }) {
        await services.backups.repository(siteOwner(input.siteId)).sweep({ signal })
      },
    },
  },
  async failed(tx, { input, error, now }) {
    const backup = await findBackup(tx, input.siteId, input.backupId)
    if (backup) await markFailed(tx, backup.id, { error: error ?? '', deleteAt: now() + TRY_AGAIN_MS })
  },
})
