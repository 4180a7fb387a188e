import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { normalHostName, zoneNameOf } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { holdSite } from '../sites/public.ts'
import { claimOfAccount } from './claim.store.ts'
import { endClaim } from './end-claim.ts'

export const cancelClaim = endpoint({
  id: 'cancelDomainClaim',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/domain-claims/{domain}',
  summary: 'Cancel a domain claim',
  description:
    'Ends the pending claim of a domain for this site. The domain stays with the other account, which is notified. You can claim the domain again later.',
  access: { site: 'manage DNS' },
  params: Type.Object({
    site_id: SiteId,
    domain: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The claimed domain, or a host name in it',
      examples: ['example.com'],
    }),
  }),
  response: Nothing,

  async handle({ tx, site, now, record }, { params }) {
    const zone = zoneNameOf(normalHostName(params.domain) ?? '')
    // The job that moves domains also holds the site, so either it finds no claim, or this does not.
    await holdSite(tx, site.id)
    const claim = zone && (await claimOfAccount(tx, site.accountId, zone))
    if (!claim || claim.siteId !== site.id) throw notFound()
    await endClaim(tx, claim, { why: 'it was canceled', now, record })
    return null
  },
})
