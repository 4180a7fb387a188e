import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { waitForOperation } from '../../kit/wait-for-operation.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { requireInstalled } from '../site.ts'
import { PASSWORD_PURPOSE, resetAdminPasswordJob } from './reset-admin-password.job.ts'

export const resetAdminPassword = endpoint({
  id: 'resetAdminPassword',
  method: 'PUT',
  path: '/v1/sites/{site_id}/cms/password-reset',
  summary: "Reset the site owner's password",
  description: 'Sets a random password in WordPress and returns it. Ends all WordPress sessions of that user.',
  access: { site: 'administer the CMS' },
  proof: true,
  params: Type.Object({ site_id: SiteId }),
  response: Type.String({ description: 'The new password', examples: ['kT4vXq9sLw2e'] }),
  starts: true,
  problems: [problems.site_not_live, problems.site_cannot, problems.site_unavailable],

  async handle(context) {
    const { site, sealer } = context
    requireInstalled(site)
    const password = randomBytes(18).toString('base64url')
    const input = { siteId: site.id, passwordSealed: sealer.seal(password, PASSWORD_PURPOSE) }
    await context.start(resetAdminPasswordJob, input)
    const message = `Reset the password of ${site.adminUsername}`
    await context.record({ action: actions['wordpress.password_reset'], message })
    return password
  },

  afterCommit: (context) => waitForOperation(context),
})
