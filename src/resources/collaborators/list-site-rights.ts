import Type from 'typebox'
import { nullable } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { reasonAgainst } from '../site-operations.ts'

const SiteRight = Type.Object(
  {
    operation: Type.String({ description: 'Its `operationId` in this description', examples: ['updateSite'] }),
    field: nullable(
      Type.String({ description: 'Of its body: about requests that send this field', examples: ['php_version'] }),
    ),
    allowed: Type.Boolean(),
    reason: nullable(
      Type.String({
        description: 'What the operation would be refused with',
        examples: ['You need the role update_site_php_version on this site for this operation.'],
      }),
    ),
  },
  { title: 'SiteRight' },
)

export const listSiteRights = endpoint({
  id: 'listSiteRights',
  method: 'GET',
  path: '/v1/sites/{id}/rights',
  summary: 'List what you may do with a site',
  description:
    'Every operation on a site, in the order of this description, and whether this token, or session, may do it: for clients that offer only what goes. ' +
    'The operations themselves decide: what an operation needs of other sites, or in the state of this one, is not looked at.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(SiteRight),

  handle: async ({ site, caller, siteOperations }) =>
    siteOperations.map((asked) => {
      const reason = reasonAgainst(asked, caller, site)
      return {
        operation: asked.operation,
        field: asked.field,
        allowed: reason === undefined,
        reason: reason ?? null,
      }
    }),
})
