import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { countUpdates, updatesOfSite } from './safe-update.store.ts'
import { presentUpdate, REPORT_DAYS, SafeUpdateSchema } from './safe-update.ts'

export const listSafeUpdates = endpoint({
  id: 'listSafeUpdates',
  method: 'GET',
  path: '/v1/sites/{id}/safe-updates',
  summary: 'List the safe updates of a site',
  description: `An addition of Stead. Returns one page of safe updates, newest first. Stead deletes them after ${REPORT_DAYS} days.`,
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object(pageQuery),
  response: Type.Array(SafeUpdateSchema),
  paged: true,

  async handle({ tx, site }, { query }) {
    const asked = pageOf(query)
    const updates = await updatesOfSite(tx, site.id, asked)
    return reply(updates.map(presentUpdate), await besidesOf(asked, updates, () => countUpdates(tx, site.id)))
  },
})
