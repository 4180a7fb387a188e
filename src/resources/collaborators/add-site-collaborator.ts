import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { ensureAccount } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findMembership } from './collaborator.store.ts'
import {
  type Collaborator,
  CollaboratorWithRoles,
  distinctRoles,
  EmailField,
  emailOf,
  presentWithRoles,
  RolesField,
} from './collaborator.ts'
import { tellGiven } from './mails.ts'
import { joinSite } from './membership.ts'
import { problems } from './problems.ts'

export const addSiteCollaborator = endpoint({
  id: 'addSiteCollaborator',
  method: 'POST',
  path: '/v1/sites/{site_id}/collaborators',
  summary: 'Add a collaborator to a site',
  description:
    'If the address has no account, Stead creates one. People who cannot sign in yet get an invitation by mail, with a link to set a password for the control panel. The link works once and expires in one week. With `wp_access`, Stead creates a WordPress administrator with that address in the background.',
  access: { site: 'add collaborators' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object({ email: EmailField, roles: RolesField }),
  response: CollaboratorWithRoles,
  starts: true,
  problems: [
    problems.collaborator_exists,
    problems.collaborator_is_owner,
    problems.collaborator_limit_reached,
    problems.mail_limit_reached,
  ],

  async handle(context, { body }) {
    const { tx, site, now } = context
    const email = emailOf(body.email)
    const { account } = await ensureAccount(tx, email, now)
    if (account.id === site.accountId) throw new Problem(problems.collaborator_is_owner, { email })
    if (await findMembership(tx, site.id, account.id)) throw new Problem(problems.collaborator_exists, { email })
    await joinSite(tx, site, account, distinctRoles(body.roles), context)
    await tellGiven(context, { account, what: `the site ${site.name}`, on: { siteIds: [site.id] } })
    return presentWithRoles((await findMembership(tx, site.id, account.id)) as Collaborator)
  },
})
