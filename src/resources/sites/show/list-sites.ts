import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { readInParts } from '../../../platform/http/long-list.ts'
import { oneOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import type { ListedSite } from '../site.ts'
import { ListedSiteSchema, presentSite } from './present-site.ts'
import { orderOf, sortQuery } from './site-order.ts'
import { readSitePage } from './site-page.ts'
import { placeQuery } from './site-place.ts'
import { includeStatus, presentAll } from './site-status.ts'
import { allSiteIds, listSitesWithIds } from './visible-site.store.ts'

export const listSites = endpoint({
  id: 'listSites',
  method: 'GET',
  path: '/v1/sites',
  summary: 'List sites',
  description:
    'Returns all sites that the caller can see, favourites first, then by name, unless you `sort` them. With `paginate`, returns one page.',
  access: { account: 'own' },
  query: Type.Object({
    tag_name: Type.Optional(Type.String()),
    environments: Type.Optional(
      oneOf(['grouped'], { description: 'Leave out environments of live sites that you can see' }),
    ),
    paginate: Type.Optional(Type.Boolean({ description: 'Return the page number `page` instead of the full list' })),
    ...includeStatus,
    ...pageQuery,
    ...placeQuery,
    ...sortQuery,
  }),
  response: Type.Array(ListedSiteSchema),
  paged: true,

  async handle({ tx, caller, config, now }, { query }) {
    const shown = { include: query.include, present: (site: ListedSite) => presentSite(site, config, now) }
    const selection = { tagName: query.tag_name || undefined, isGrouped: query.environments === 'grouped' }
    const { paginate, after, place } = query
    if (!paginate && after === undefined && place === undefined) {
      const ids = await allSiteIds(tx, caller.accountId, selection, orderOf(query))
      const all = await readInParts(ids, async (some) =>
        presentAll(tx, await listSitesWithIds(tx, caller.accountId, some), shown),
      )
      return reply(all, {})
    }
    const { sites, besides } = await readSitePage(tx, caller.accountId, selection, query)
    return reply(await presentAll(tx, sites, shown), besides)
  },
})
