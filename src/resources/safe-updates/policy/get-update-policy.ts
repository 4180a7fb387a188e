import Type from 'typebox'
import { timestamp } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { policyOfAccount, policyOfSite, turnOf } from './policy.store.ts'
import { effectivePolicy, presentPolicy, presentUndone, SitePolicySchema } from './policy.ts'
import { undoneVersions } from './undone.store.ts'

export const getUpdatePolicy = endpoint({
  id: 'getUpdatePolicy',
  method: 'GET',
  path: '/v1/sites/{id}/update-policy',
  summary: 'Get the update policy of a site',
  description:
    'An addition of Stead. Returns when Stead updates plugins and themes of the site safely without a request. A new site inherits the default of its account.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: SitePolicySchema,
  etag: true,

  async handle({ tx, site, config }) {
    const [own, usual] = [await policyOfSite(tx, site.id), await policyOfAccount(tx, site.accountId)]
    const turn = await turnOf(tx, site.id)
    return {
      ...presentPolicy(own),
      effective: presentPolicy(effectivePolicy(own, usual)),
      next_at: turn ? timestamp(turn.dueAt) : null,
      undone: (await undoneVersions(tx, site.id)).map(presentUndone),
      has_feed: Boolean(config.vulnerabilityFeed),
    }
  },
})
