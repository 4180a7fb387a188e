import Type from 'typebox'
import { defaultPhpVersion } from '../../../hosting/php/runtime.ts'
import { notFound } from '../../../platform/http/problem.ts'
import { nullable, oneOf } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { findSite } from '../../sites/public.ts'
import { surveyHosts } from './survey-hosts.ts'

const SiteHost = Type.Object(
  {
    name: Type.String({ examples: ['host-2'] }),
    state: oneOf(['active', 'cordoned', 'draining', 'drained', 'lost'], {
      description: 'As in `GET /v1/installation`',
      examples: ['active'],
    }),
    sites: Type.Integer({ description: 'Number of sites on the host, without those in the trash', examples: [12] }),
    max_sites: Type.Integer({ description: 'Maximum number of sites on the host', examples: [100] }),
    php_versions: Type.Array(Type.String({ examples: [defaultPhpVersion] }), {
      description: "PHP versions of the host that work with the kind of the site's database",
    }),
    current: Type.Boolean({ description: 'Whether the site is on this host' }),
    reason: nullable(
      Type.String({
        description: 'Why the host cannot take the site. Null if it can',
        examples: ['The host has no room.'],
      }),
    ),
  },
  { title: 'SiteHost' },
)

export const listSiteHosts = endpoint({
  id: 'listSiteHosts',
  method: 'GET',
  path: '/v1/sites/{id}/hosts',
  summary: 'List the hosts that a site may move to',
  description:
    'An addition of Stead. Lists all hosts in order of ID, and says which can take the site and why others cannot. `POST /v1/sites/{id}/relocate` moves it.',
  access: { account: 'operator' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(SiteHost),

  async handle({ tx }, { params }) {
    const site = await findSite(tx, params.id)
    if (!site) throw notFound()
    return (await surveyHosts(tx, site)).map(({ housing, phpVersions, refusal }) => ({
      ...{ name: housing.name, state: housing.state, sites: housing.sites, max_sites: housing.maxSites },
      php_versions: [...phpVersions],
      current: housing.id === site.hostId,
      reason: refusal ?? null,
    }))
  },
})
