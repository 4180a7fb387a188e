import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { type ListedSite, ListedSiteSchema, listSitesWithIds, presentAll, presentSite } from '../sites/public.ts'
import { linksOfLiveSites } from './environment.store.ts'

const EnvironmentOfMany = Type.Object(
  {
    liveSiteId: Type.Integer({ examples: [1] }),
    linkedAt: Timestamp,
    site: ListedSiteSchema,
  },
  { title: 'EnvironmentOfLiveSite' },
)

export const listAllEnvironments = endpoint({
  id: 'listAllEnvironments',
  method: 'GET',
  path: '/v1/environments',
  summary: 'List the environments of several sites',
  description:
    'An addition of Stead. Returns the environments that you can see, of the live sites that you name. Sites that you cannot see have none.',
  access: { account: 'own' },
  query: Type.Object({
    site_ids: Type.String({
      pattern: '^[0-9]{1,15}(,[0-9]{1,15}){0,99}$',
      description: 'IDs of live sites, with commas between them. At most 100',
      examples: ['1,2'],
    }),
  }),
  response: Type.Array(EnvironmentOfMany),

  async handle({ tx, caller: { accountId }, config, now }, { query }) {
    const ids = query.site_ids.split(',').map(Number)
    const links = new Map((await linksOfLiveSites(tx, accountId, ids)).map((link) => [link.siteId, link]))
    const sites = await listSitesWithIds(tx, accountId, [...links.keys()])
    const present = (site: ListedSite) => presentSite(site, config, now)
    const shown = await presentAll(tx, sites, { include: 'status', present })
    return shown.flatMap((site) => {
      const link = links.get(site.id)
      return link ? [{ liveSiteId: link.liveSiteId, linkedAt: timestamp(link.linkedAt), site }] : []
    })
  },
})
