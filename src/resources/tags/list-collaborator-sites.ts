import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countVisibleSites, listVisibleSites } from '../sites/public.ts'
import { CollaboratorSites, EmailParam, presentCollaboratorSites, viewOf } from './collaborator-view.ts'

export const listCollaboratorSites = endpoint({
  id: 'listCollaboratorSites',
  method: 'GET',
  path: '/v1/collaborators/{email_address}/sites',
  summary: "List a collaborator's sites",
  description:
    'Returns one page of sites as the collaborator sees them, favourites first, then by name. Collaborators get all of their sites. Other callers get only the sites that they own.',
  access: { account: 'own' },
  params: Type.Object({ email_address: EmailParam }),
  query: Type.Object({ tag_name: Type.Optional(Type.String()), ...pageQuery }),
  response: CollaboratorSites,
  paged: true,

  async handle(context, { params, query }) {
    const { tx, caller } = context
    const { account, ownerId } = await viewOf(tx, caller, params.email_address)
    const selection = { ownerId, tagName: query.tag_name || undefined }
    const asked = pageOf(query)
    const sites = await listVisibleSites(tx, account.id, selection, asked)
    const besides = await besidesOf(asked, sites, () => countVisibleSites(tx, account.id, selection))
    return reply(presentCollaboratorSites(account, sites, context), besides)
  },
})
