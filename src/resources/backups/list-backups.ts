import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { listCompleted } from './backup.store.ts'
import { BackupPair, pairs } from './present-backup.ts'

export const listBackups = endpoint({
  id: 'listBackups',
  method: 'GET',
  path: '/v1/sites/{site_id}/backups',
  summary: 'List the backups of a site, database and files together',
  description:
    'Returns all completed backups, scheduled and on demand, newest first. Each database backup comes with the latest file backup taken before it, so that both show the site at about the same time.',
  access: { site: 'use backups' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Array(BackupPair),

  async handle({ tx, site }) {
    return pairs(await listCompleted(tx, site.id, 'db'), await listCompleted(tx, site.id, 'fs'))
  },
})
