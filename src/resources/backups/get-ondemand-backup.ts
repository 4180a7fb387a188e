import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findOnDemand } from './backup.store.ts'
import { BackupId } from './backup.ts'
import { OndemandBackup, presentOndemand } from './present-backup.ts'

export const getOndemandBackup = endpoint({
  id: 'getOndemandBackup',
  method: 'GET',
  path: '/v1/sites/{site_id}/ondemand-backups/{id}',
  summary: 'Get an on-demand backup',
  description: 'While the backup is being created, use its `requestId`. It becomes the `id` of the backup.',
  access: { site: 'use backups' },
  params: Type.Object({ site_id: SiteId, id: BackupId }),
  response: OndemandBackup,
  etag: true,

  async handle({ tx, site, now }, { params }) {
    const backup = await findOnDemand(tx, site.id, params.id)
    if (!backup) throw notFound()
    return presentOndemand(backup, now)
  },
})
