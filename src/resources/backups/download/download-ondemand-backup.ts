import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { findCompleted } from '../backup.store.ts'
import { BackupId } from '../backup.ts'
import { downloadContract } from './download-contract.ts'

export const downloadOndemandBackup = endpoint({
  id: 'downloadOndemandBackup',
  ...downloadContract,
  method: 'GET',
  path: '/v1/sites/{site_id}/ondemand-backups/{id}/download',
  summary: 'Download an on-demand backup',
  access: { site: 'use backups' },
  params: Type.Object({ site_id: SiteId, id: BackupId }),

  async handle(context, { params }) {
    const backup = await findCompleted(context.tx, context.site.id, params.id)
    if (backup?.origin !== 'ondemand') throw notFound()
    return context.downloads.answer(context, backup)
  },
})
