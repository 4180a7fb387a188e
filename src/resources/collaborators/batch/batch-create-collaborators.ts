import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { ALL_SITES } from '../../access/access.ts'
import { ensureAccount, findAccountByEmail } from '../../account/public.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { sourceOfRequest } from '../../kit/source-of-request.ts'
import { distinctRoles, EmailField, emailOf, RolesField, SiteIdsField } from '../collaborator.ts'
import { countOf, tellGiven } from '../mails.ts'
import { problems } from '../problems.ts'
import { batchCreate } from './batch.job.ts'

export const batchCreateCollaborators = endpoint({
  id: 'batchCreateCollaborators',
  method: 'POST',
  path: '/v1/collaborators/batch_create',
  summary: 'Add a collaborator to many sites',
  description:
    'On sites where the person is already a collaborator, these roles replace their current roles. Without `roles`, they keep their roles. If they lose `wp_access`, Stead deletes their WordPress user and gives its posts to the next administrator. Use `-1` in `siteIds` for all sites that you own or where you have the required roles. The `results` of the operation contain the outcome for each site.',
  access: { sites: ['add collaborators', 'change many sites at once'], all: 'capable' },
  body: Type.Object({ email: EmailField, siteIds: SiteIdsField, roles: RolesField }),
  response: Nothing,
  starts: true,
  problems: [
    problems.collaborator_is_owner,
    problems.own_collaboration,
    problems.mail_limit_reached,
    authenticationProblems.forbidden,
  ],

  async handle(context, { body }) {
    const { tx, caller, request, now } = context
    const email = emailOf(body.email)
    const known = await findAccountByEmail(tx, email)
    const isAll = body.siteIds.includes(ALL_SITES)
    if (!isAll && context.sites.some((site) => site.accountId === known?.id))
      throw new Problem(problems.collaborator_is_owner, { email })
    if (known?.id === caller.accountId && context.sites.some((site) => !site.isOwned) && !isAll)
      throw new Problem(problems.own_collaboration, {})
    const sites = known?.id === caller.accountId ? [] : context.sites.filter((site) => site.accountId !== known?.id)
    const message = `Scheduled: add the collaborator to ${countOf(sites.length, 'site')}.`
    if (sites.length === 0) return reply(null, { message })
    const { account, isNew } = known ? { account: known, isNew: false } : await ensureAccount(tx, email, now)
    const what = sites.length === 1 ? `the site ${sites[0]?.name}` : countOf(sites.length, 'site')
    const siteIds = sites.map(({ id }) => id)
    if (isNew) await tellGiven(context, { account, what, on: { siteIds } })
    const roles = body.roles && { roles: distinctRoles(body.roles) }
    const input = { accountId: account.id, siteIds, ...roles, isInvited: isNew }
    await context.start(batchCreate, input, { source: sourceOfRequest(caller, request) })
    return reply(null, { message })
  },
})
