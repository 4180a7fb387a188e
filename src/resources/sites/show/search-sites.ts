import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { invalidInput } from '../../../platform/http/problem.ts'
import { oneOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import type { ListedSite } from '../site.ts'
import { FoundSite, presentSiteWithAddresses } from './present-site.ts'
import { sortQuery } from './site-order.ts'
import { readSitePage } from './site-page.ts'
import { placeQuery } from './site-place.ts'
import { includeStatus, presentAll } from './site-status.ts'
import type { SiteFilter } from './visible-site.store.ts'

const keys = [
  'any',
  'domain',
  'name',
  'state',
  'wordpress_version',
  'cms_version',
  'php_version',
  'datacenter_code',
  'cloned_from',
  'staging',
  'tag',
] as const

export const searchSites = endpoint({
  id: 'searchSites',
  method: 'POST',
  path: '/v1/sites/search',
  summary: 'Search sites',
  description:
    'Returns the sites that match all filters, favourites first, then by name, unless you `sort` them. `name` and `domain` match any part. `any` matches any part of a name, a display name, a domain, or a tag. `cms_version` (or `wordpress_version`) matches the start. `cloned_from` matches the clones of the site with this ID, `staging` is `true` or `false`, and `tag` is the name of one of your tags. Other filters match the exact value.',
  access: { account: 'own' },
  reads: true,
  body: Type.Object({
    filters: Type.Array(
      Type.Object(
        {
          key: oneOf(keys, { examples: ['name'] }),
          value: Type.String({ minLength: 1, maxLength: 255, examples: ['shop'] }),
        },
        { title: 'SiteFilter' },
      ),
      {
        minItems: 1,
        maxItems: 20,
      },
    ),
    ...pageQuery,
    ...placeQuery,
    ...sortQuery,
  }),
  query: Type.Object(includeStatus),
  response: Type.Array(FoundSite),
  paged: true,

  async handle({ tx, caller, config, now }, { body, query }) {
    const selection = { filters: body.filters.map(siteFilter) }
    const { sites, besides } = await readSitePage(tx, caller.accountId, selection, body)
    const shown = { include: query.include, present: (site: ListedSite) => presentSiteWithAddresses(site, config, now) }
    return reply(await presentAll(tx, sites, shown), besides)
  },
})

function siteFilter({ key, value }: { key: (typeof keys)[number]; value: string }): SiteFilter {
  if (key === 'name' || key === 'domain' || key === 'any') return { key, part: value }
  if (key === 'cms_version' || key === 'wordpress_version') return { key: 'core_version', prefix: value }
  if (key === 'cloned_from') return { key: 'cloned_from_id', value: siteIdIn(value) }
  if (key === 'staging') return { key, value: flagIn(value) }
  return { key, value }
}

/** @throws Problem for a value other than true or false */
function flagIn(value: string): 0 | 1 {
  if (value !== 'true' && value !== 'false') throw invalidInput(['filters: the value of staging must be true or false'])
  return value === 'true' ? 1 : 0
}

/** @throws Problem for an invalid id */
function siteIdIn(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw invalidInput(['filters: the value of cloned_from must be the ID of a site'])
  return Number(value)
}
