import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { findOnDemand, markDeleting, retain, setBackupOperation } from './backup.store.ts'
import { type Backup, BackupId } from './backup.ts'
import { OndemandBackup, presentOndemand } from './present-backup.ts'
import { problems } from './problems.ts'
import { operationThatNeeds } from './restore/restore.store.ts'
import { deleteBackupJob } from './take/delete-backup.job.ts'

export const deleteOndemandBackup = endpoint({
  id: 'deleteOndemandBackup',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/ondemand-backups/{id}',
  summary: 'Delete an on-demand backup',
  description:
    'You cannot undo this. The slot is free immediately, and Stead removes the data from the storage shortly after. To stop a backup that is still being created, cancel its operation.',
  access: { site: 'use backups' },
  proof: true,
  params: Type.Object({ site_id: SiteId, id: BackupId }),
  response: OndemandBackup,
  starts: true,
  problems: [problems.backup_not_completed, problems.backup_in_use],

  async handle(context, { params }) {
    const { tx, site, now } = context
    const backup = await findOnDemand(tx, site.id, params.id)
    if (!backup) throw notFound()
    if (backup.state === 'deleting') return presentOndemand(backup, now)
    if (backup.state !== 'completed') throw new Problem(problems.backup_not_completed, { state: backup.state })
    const operation = await operationThatNeeds(tx, site.id, backup.id)
    if (operation !== undefined) throw new Problem(problems.backup_in_use, { operation })
    const deleting = (await markDeleting(tx, backup.id, now)) as Backup
    await retain(tx, site.id, backup.kind)
    const operationId = await context.start(deleteBackupJob, { siteId: site.id, backupId: backup.id })
    await setBackupOperation(tx, backup.id, operationId)
    await context.record({ action: actions['backup.deleted'], message: `Deleted on-demand backup ${backup.id}` })
    return presentOndemand(deleting, now)
  },
})
