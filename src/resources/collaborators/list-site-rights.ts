import Type from 'typebox'
import { nullable } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { reasonAgainst } from '../kit/site-operations.ts'

const SiteRight = Type.Object(
  {
    operation: Type.String({
      description: '`operationId` of the operation in this document',
      examples: ['updateSite'],
    }),
    field: nullable(
      Type.String({
        description: 'Field of the body. The entry applies to requests that send this field',
        examples: ['php_version'],
      }),
    ),
    allowed: Type.Boolean(),
    reason: nullable(
      Type.String({
        description: 'Error that the operation would return',
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
    'Lists all operations on a site in the order of this document, and whether this token or session can run each. Clients can use it to hide unavailable operations. ' +
    'The list does not consider requirements on other sites or on the state of this site.',
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
