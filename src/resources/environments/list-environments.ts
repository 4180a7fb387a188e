import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { visibleSite } from '../sites/public.ts'
import { linkOf, linksOfLive } from './environment.store.ts'
import { EnvironmentsSchema, presentEnvironment, presentEnvironmentSite } from './environment.ts'

export const listEnvironments = endpoint({
  id: 'listEnvironments',
  method: 'GET',
  path: '/v1/sites/{id}/environments',
  summary: 'List the environments of a site',
  description:
    'An addition of Stead. Returns the live site with its environments, whichever of them the path names. A site without links is its own live site, without environments. ' +
    'Sites in the trash are left out.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: EnvironmentsSchema,

  async handle({ tx, site, caller, config }) {
    const own = await linkOf(tx, site.id)
    const live = own ? await visibleSite(tx, caller.accountId, own.liveSiteId) : site
    // Callers who cannot see the live site do not learn what else belongs to it.
    const links = own && !live ? [own] : await linksOfLive(tx, own?.liveSiteId ?? site.id)
    const environments = []
    for (const link of links) {
      const environment = await visibleSite(tx, caller.accountId, link.siteId)
      if (environment) environments.push(presentEnvironment(environment, link, config))
    }
    return { live: live ? presentEnvironmentSite(live, config) : null, environments }
  },
})
