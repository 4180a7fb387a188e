import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { listOnDemand } from './backup.store.ts'
import { OndemandBackup, presentOndemand } from './present-backup.ts'

export const listOndemandBackups = endpoint({
  id: 'listOndemandBackups',
  method: 'GET',
  path: '/v1/sites/{id}/ondemand-backups',
  summary: 'List the on-demand backups of a site',
  description: 'Returns the backups newest first, including those being created or deleted.',
  access: { site: 'use backups' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(OndemandBackup),

  async handle({ tx, site, now }) {
    return (await listOnDemand(tx, site.id)).map((backup) => presentOndemand(backup, now))
  },
})
