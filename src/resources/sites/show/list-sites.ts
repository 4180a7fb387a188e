import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { readInParts } from '../../../platform/http/long-list.ts'
import { besidesOf, pageOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import type { ListedSite } from '../site.ts'
import { ListedSiteSchema, presentSite } from './present-site.ts'
import { nextPlace, placeOf, placeQuery } from './site-place.ts'
import { includeStatus, presentAll } from './site-status.ts'
import { countVisibleSites, listSitesWithIds, listVisibleSites, visibleSiteIds } from './visible-site.store.ts'

export const listSites = endpoint({
  id: 'listSites',
  method: 'GET',
  path: '/v1/sites',
  summary: 'List sites',
  description:
    'Returns all sites that the caller can see, favourites first, then by name. With `paginate`, returns one page.',
  access: { account: 'own' },
  query: Type.Object({
    tag_name: Type.Optional(Type.String()),
    paginate: Type.Optional(Type.Boolean({ description: 'Return the page number `page` instead of the full list' })),
    ...includeStatus,
    ...pageQuery,
    ...placeQuery,
  }),
  response: Type.Array(ListedSiteSchema),
  paged: true,

  async handle({ tx, caller, config, now }, { query }) {
    const shown = { include: query.include, present: (site: ListedSite) => presentSite(site, config, now) }
    const selection = { tagName: query.tag_name || undefined }
    const place = placeOf(query)
    if (!query.paginate && query.after === undefined && !place) {
      const ids = await visibleSiteIds(tx, caller.accountId, selection)
      const all = await readInParts(ids, async (some) =>
        presentAll(tx, await listSitesWithIds(tx, caller.accountId, some), shown),
      )
      return reply(all, {})
    }
    const asked = pageOf(place ? { per_page: query.per_page } : query)
    const from = place === 'begin' ? undefined : place
    const sites = await listVisibleSites(tx, caller.accountId, selection, asked, from)
    const besides = place
      ? nextPlace(sites, asked.perPage)
      : await besidesOf(asked, sites, () => countVisibleSites(tx, caller.accountId, selection))
    return reply(await presentAll(tx, sites, shown), besides)
  },
})
