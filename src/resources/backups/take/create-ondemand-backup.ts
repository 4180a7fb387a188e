import Type from 'typebox'
import { oneOf } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { setBackupOperation } from '../backup.store.ts'
import { kinds } from '../backup.ts'
import { creatorOf } from '../creator.ts'
import { OrderedBackup, presentOndemand } from '../present-backup.ts'
import { problems } from '../problems.ts'
import { orderBackup } from './order-backup.ts'
import { takeBackupJob } from './take-backup.job.ts'

const words = { fs: 'files', db: 'database' } as const

export const createOndemandBackup = endpoint({
  id: 'createOndemandBackup',
  method: 'POST',
  path: '/v1/sites/{id}/ondemand-backups',
  summary: 'Create an on-demand backup',
  description:
    'A site can have three on-demand backups of each type. Stead takes the backup in the background and reads it back to verify it. When the backup is `completed`, its `id` is the `requestId` of the response. Until then, `id` is null. Stead keeps the newest backup of a type for 30 days. It keeps an older backup for 7 days after the next one is completed.',
  access: { site: 'use backups' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object({ backup_type: oneOf(kinds, { description: 'Files or database' }) }, { title: 'NewBackup' }),
  response: OrderedBackup,
  starts: true,
  problems: [problems.backup_limit_reached, siteProblems.site_not_live],

  async handle(context, { body }) {
    const { tx, site, now } = context
    requireInstalled(site)
    const kind = body.backup_type
    const createdBy = await creatorOf(context)
    const backup = await orderBackup(tx, { siteId: site.id, kind, origin: 'ondemand', createdBy, now })
    const operationId = await context.start(takeBackupJob, { siteId: site.id, backupId: backup.id })
    await setBackupOperation(tx, backup.id, operationId)
    await context.record({
      action: actions['backup.created'],
      message: `Requested on-demand backup ${backup.id} of the ${words[kind]}`,
    })
    return { ...presentOndemand(backup, now), requestId: backup.id }
  },
})
