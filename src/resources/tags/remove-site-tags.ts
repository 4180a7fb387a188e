import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSite, SiteSchema } from '../sites/public.ts'
import { arrangeFewerTags } from './arrange.ts'
import { TagIds } from './tag.ts'

export const removeSiteTags = endpoint({
  id: 'removeSiteTags',
  method: 'DELETE',
  path: '/v1/sites/{id}/tags',
  summary: 'Remove tags from a site',
  description: 'Tags belong to your account. Other accounts that see the site have their own tags.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  body: TagIds,
  response: SiteSchema,

  async handle(context, { body }) {
    const site = await arrangeFewerTags(context, context.caller.accountId, context.site, body.tag_ids)
    return presentSite(site, context.config, context.now)
  },
})
