import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { findCompleted } from '../backup.store.ts'
import { BackupId } from '../backup.ts'
import { downloadContract } from './download-contract.ts'

export const downloadBackup = endpoint({
  id: 'downloadBackup',
  ...downloadContract,
  method: 'GET',
  path: '/v1/sites/{site_id}/backups/{backup_id}',
  summary: 'Download a backup',
  access: { site: 'use backups' },
  params: Type.Object({ site_id: SiteId, backup_id: BackupId }),

  async handle(context, { params }) {
    const backup = await findCompleted(context.tx, context.site.id, params.backup_id)
    if (!backup) throw notFound()
    return context.downloads.answer(context, backup)
  },
})
