import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { domainsOfSite } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { claimsAround } from './claim.store.ts'
import { type Claim, recordNameOf } from './claim.ts'

/** An account has few claims, but any number of accounts can claim one domain. */
const MOST_LISTED = 100

const DomainClaim = Type.Object(
  {
    domain: Type.String({ examples: ['example.com'] }),
    role: oneOf(['claimant', 'holder'], {
      description: '`claimant`: this site claims the domain. `holder`: another account claims a domain of this site',
    }),
    domainName: nullable(
      Type.String({
        description: 'Host name that the site gets when the domain moves. Null for the holder',
        examples: ['www.example.com'],
      }),
    ),
    recordName: Type.String({
      description: 'TXT record that proves the claim. Without it, the claim ends',
      examples: ['_stead-challenge.example.com'],
    }),
    recordValue: nullable(
      Type.String({
        description: 'Value of that record. Null for the holder',
        examples: ['stead-Hn2vGkqT0m4yW8rZ'],
      }),
    ),
    movesAt: Timestamp,
  },
  { title: 'DomainClaim' },
)

export const listClaims = endpoint({
  id: 'listDomainClaims',
  method: 'GET',
  path: '/v1/sites/{site_id}/domain-claims',
  summary: 'List the domain claims of a site',
  description:
    'Returns up to 100 pending claims, the ones that move first at the beginning: claims of this site on domains of other accounts, and claims of other accounts on domains of this site.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Array(DomainClaim),

  async handle({ tx, site }) {
    const zones = [...new Set((await domainsOfSite(tx, site.id)).map(({ zoneName }) => zoneName))]
    return (await claimsAround(tx, site, { zones, most: MOST_LISTED })).map((claim) => present(claim, site.id))
  },
})

/** Returns a claim so that neither account learns more about the other than the domain. */
function present(claim: Claim, siteId: number): Type.Static<typeof DomainClaim> {
  const isOwn = claim.siteId === siteId
  return {
    domain: claim.zone,
    role: isOwn ? 'claimant' : 'holder',
    domainName: isOwn ? claim.hostName : null,
    recordName: recordNameOf(claim.zone),
    recordValue: isOwn ? claim.value : null,
    movesAt: timestamp(claim.movesAt),
  }
}
