import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import {
  checkHost,
  checkHostName,
  problems as dnsProblems,
  domainsOfSite,
  insertZone,
  labelIn,
  normalHostName,
  othersAt,
  zoneNameOf,
  zoneOfOther,
} from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { addHostToSite } from './add-host.ts'
import { beginClaim, lookForProof, timeOf } from './begin-claim.ts'
import { checksOfSite } from './check.store.ts'
import { DomainSchema, domainsOf, hostNameOf, presentDomain, separateRecords } from './domain.ts'
import { problems } from './problems.ts'

export const addDomain = endpoint({
  id: 'addDomain',
  method: 'POST',
  path: '/v1/sites/{site_id}/domains',
  summary: 'Add a domain to a site',
  description:
    'Returns all domains of the site. If the registrable domain has no zone yet, Stead creates it with records for the edge. ' +
    'If you add a registrable domain (`example.com`), Stead also adds `www.example.com` if that name is free. You can write international names in either form. ' +
    '`*.example.com` adds a wildcard, for the sites of a network. Its certificate needs a zone that Stead serves. ' +
    'You can claim a domain of another account: the response is 400 with a TXT record `_stead-challenge` for the domain. Create the record, then send the request again. When Stead finds ' +
    'the record, it returns 201 without the new domain, and `message` says when the domain moves. Stead notifies the other account. A day later, it checks the record again, moves the domain, ' +
    'and adds the host name to the site. If the record is missing by then, the claim ends.',
  access: { site: 'manage DNS' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object(separateRecords),
  body: Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Host name to add. `*.example.com` stands for all names one label below `example.com` that are not domains themselves',
        examples: ['www.example.com'],
      }),
      ...separateRecords,
    },
    { title: 'NewDomain' },
  ),
  response: Type.Array(DomainSchema),
  status: 201,
  starts: true,
  problems: [
    problems.domain_exists,
    problems.domain_elsewhere,
    problems.zone_of_other_account,
    problems.claim_limit_reached,
    dnsProblems.host_name_taken,
    dnsProblems.reserved_name,
    dnsProblems.staging_domain_name,
    dnsProblems.staging_site_domains,
    dnsProblems.domain_limit_reached,
  ],

  prepare: (context, { body }) => lookForProof(context, context.site.accountId, read(body.name).zoneName),

  async handle(context, { body, query }) {
    const { tx, site, now } = context
    const { hostName, zoneName } = read(body.name)
    const checks = await checksOfSite(tx, site.id)
    const isSeparate = body.separate_records ?? query.separate_records
    const shown = async () =>
      domainsOf(await domainsOfSite(tx, site.id), isSeparate).map((domain) =>
        presentDomain(domain, checks.get(domain.hostName)),
      )
    await checkHostName(context, site, hostName)
    const other = await zoneOfOther(tx, site.accountId, zoneName)
    if (other) {
      const { movesAt } = await beginClaim(context, { zone: other, site, hostName, proof: context.prepared })
      const message = `The claim of ${zoneName} has begun: the domain moves at ${timeOf(movesAt)}. Keep the TXT record until then.`
      return reply(await shown(), { message })
    }
    const zone = await insertZone(tx, site.accountId, zoneName, now)
    const host = { site, zone, name: labelIn(zoneName, hostName) }
    const had = await domainsOfSite(tx, site.id)
    await checkHost(context, host)
    if (had.some((record) => hostNameOf(record) === hostName)) throw new Problem(problems.domain_exists, { hostName })
    const others = await othersAt(tx, host, now)
    if (others.length > 0) throw new Problem(problems.domain_elsewhere, { hostName, types: others.join(' and ') })
    await addHostToSite(context, host)
    return shown()
  },
})

/** @throws Problem for an invalid name */
function read(name: string): { hostName: string; zoneName: string } {
  const star = isWildcard(name.trim()) ? '*.' : ''
  const plainName = normalHostName(name.trim().slice(star.length))
  if (!plainName) throw invalidInput(['name: must be a host name, such as www.example.com or *.example.com'])
  const hostName = `${star}${plainName}`
  const zoneName = zoneNameOf(plainName)
  if (!zoneName) throw invalidInput(['name: must be below a public suffix, such as example.com for com'])
  return { hostName, zoneName }
}
