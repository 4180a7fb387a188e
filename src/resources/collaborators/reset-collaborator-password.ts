import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { findCollaboratorOfSite } from './collaborator.store.ts'
import { CollaboratorId, hasWpAccess } from './collaborator.ts'
import { problems } from './problems.ts'
import { COLLABORATOR_PASSWORD_PURPOSE, resetCollaboratorPasswordJob } from './reset-collaborator-password.job.ts'

export const resetCollaboratorPassword = endpoint({
  id: 'resetCollaboratorPassword',
  method: 'PUT',
  path: '/v1/sites/{site_id}/collaborators/{id}/wp-password-reset',
  summary: "Reset a collaborator's WordPress password",
  description: 'Sets a random password in WordPress and returns it. Ends all WordPress sessions of that user.',
  access: { site: 'reset collaborator passwords' },
  proof: true,
  params: Type.Object({ site_id: SiteId, id: CollaboratorId }),
  response: Type.String({ description: 'The new password', examples: ['kT4vXq9sLw2e'] }),
  starts: true,
  problems: [
    problems.collaborator_lacks_wp_access,
    siteProblems.site_not_live,
    siteProblems.site_cannot,
    siteProblems.site_unavailable,
  ],

  async handle(context, { params }) {
    const { tx, site, sealer } = context
    const member = await findCollaboratorOfSite(tx, site.id, params.id)
    if (!member) throw notFound()
    if (!hasWpAccess(member.roles)) throw new Problem(problems.collaborator_lacks_wp_access, {})
    requireInstalled(site)
    const password = randomBytes(18).toString('base64url')
    const passwordSealed = sealer.seal(password, COLLABORATOR_PASSWORD_PURPOSE)
    const input = { siteId: site.id, accountId: member.accountId, passwordSealed }
    await context.start(resetCollaboratorPasswordJob, input)
    const message = `Reset the password of ${member.email} on ${site.name}`
    await context.record({ action: actions['collaborator.password_reset'], message })
    return password
  },

  afterCommit: (context) => waitForOperation(context),
})
