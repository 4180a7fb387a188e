import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { listCompleted } from './backup.store.ts'
import { includeDetails, ListedBackup, presentListedBackup } from './present-backup.ts'

export const listDatabaseBackups = endpoint({
  id: 'listDatabaseBackups',
  method: 'GET',
  path: '/v1/sites/{site_id}/backups/db',
  summary: 'List the database backups of a site',
  description: 'Returns scheduled and on-demand backups, newest first.',
  access: { site: 'use backups' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object(includeDetails),
  response: Type.Array(ListedBackup),

  async handle({ tx, site }, { query }) {
    return (await listCompleted(tx, site.id, 'db')).map((backup) => presentListedBackup(backup, query.include))
  },
})
