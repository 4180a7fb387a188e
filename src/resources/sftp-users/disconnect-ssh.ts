import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { disconnectSftpJob } from './disconnect.job.ts'

export const disconnectSsh = endpoint({
  id: 'disconnectSsh',
  method: 'GET',
  path: '/v1/sites/{site_id}/disconnect-ssh',
  summary: "End all of a site's SSH connections",
  description: 'Waits until the connections have ended. Users with a password or key can connect again.',
  access: { site: 'use SFTP' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,
  writes: true,
  starts: true,
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  async handle(context) {
    const { site } = context
    requireInstalled(site)
    await context.start(disconnectSftpJob, { siteId: site.id })
    await context.record({ action: actions['sftp.disconnected'], message: 'Ended all SFTP connections' })
    return null
  },

  afterCommit: (context) => waitForOperation(context),
})
