import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { presentSite, SiteSchema } from '../sites/public.ts'
import { arrangeNewTags } from './arrange.ts'
import { problems } from './problems.ts'
import { TagNames } from './tag.ts'

export const addSiteTags = endpoint({
  id: 'addSiteTags',
  method: 'POST',
  path: '/v1/sites/{id}/tags',
  summary: 'Add tags to a site',
  description: 'Tags belong to your account. Other accounts that see the site have their own tags.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  body: TagNames,
  response: SiteSchema,
  problems: [problems.tag_limit_reached],

  async handle(context, { body }) {
    const site = await arrangeNewTags(context, context.caller.accountId, context.site, body.tag_names)
    return presentSite(site, context.config, context.now)
  },
})
