import Type from 'typebox'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import type { Change } from '../change.ts'
import type { Context } from '../context.ts'
import { problems as dnsProblems } from '../dns/problems.ts'
import {
  addHost,
  checkHost,
  domainsOfSite,
  type HostOfSite,
  insertZone,
  labelIn,
  normalHostName,
  othersAt,
  zoneNameOf,
} from '../dns/zone.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { checksOfSite, expectCheck } from './check.store.ts'
import { checkDomain } from './check-domains.job.ts'
import { DomainSchema, domainsOf, hostNameOf, presentDomain, separateRecords } from './domain.ts'
import { problems } from './problems.ts'

export const addDomain = endpoint({
  id: 'addDomain',
  method: 'POST',
  path: '/v1/sites/{site_id}/domains',
  summary: 'Add a domain to a site',
  description:
    'The answer lists all domains of the site. The zone of the registrable domain is made when there is none, with records for the edge; ' +
    'a registrable domain itself (`example.com`) brings `www.example.com` along where that name is free. International names may be written either way.',
  access: { site: 'manage DNS' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object(separateRecords),
  body: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 255, description: 'A host name', examples: ['www.example.com'] }),
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
    dnsProblems.host_name_taken,
    dnsProblems.reserved_name,
    dnsProblems.staging_domain_name,
    dnsProblems.staging_site_domains,
    dnsProblems.zone_of_another_account,
    dnsProblems.domain_limit_reached,
  ],

  async handle(context, { body, query }) {
    const { tx, site, now } = context
    const hostName = normalHostName(body.name)
    if (!hostName) throw invalidInput(['name: must be a host name, such as www.example.com'])
    const zoneName = zoneNameOf(hostName)
    if (!zoneName) throw invalidInput(['name: must be below a public suffix, such as example.com for com'])
    const zone = await insertZone(tx, site.accountId, zoneName, now)
    const host = { site, zone, name: labelIn(zoneName, hostName) }
    const had = await domainsOfSite(tx, site.id)
    await checkHost(context, host)
    if (had.some((record) => hostNameOf(record) === hostName)) throw new Problem(problems.domain_exists, { hostName })
    const others = await othersAt(tx, host, now)
    if (others.length > 0) throw new Problem(problems.domain_elsewhere, { hostName, types: others.join(' and ') })
    await add(context, host, hostName)
    if (host.name === '') await addWww(context, host, `www.${hostName}`)
    const checks = await checksOfSite(tx, site.id)
    const isSeparate = body.separate_records ?? query.separate_records
    return domainsOf(await domainsOfSite(tx, site.id), isSeparate).map((domain) =>
      presentDomain(domain, checks.get(domain.hostName)),
    )
  },
})

type Adding = Context & Change

async function add(context: Adding, host: HostOfSite, hostName: string): Promise<void> {
  const { tx, now } = context
  const { site } = host
  await addHost(context, host)
  await expectCheck(tx, site.id, hostName, now + SOON_MS)
  await context.start(checkDomain, { siteId: site.id, hostName }, { about: { accountId: site.accountId } })
}

/** After that the regular look comes to it, should the first be lost. */
const SOON_MS = 60_000

/** Only where nobody has another use for it. */
async function addWww(context: Adding, apex: HostOfSite, hostName: string): Promise<void> {
  const { tx, now } = context
  const host = { ...apex, name: 'www' }
  try {
    await checkHost(context, host)
  } catch (error) {
    if (error instanceof Problem) return
    throw error
  }
  const hasIt = (await domainsOfSite(tx, apex.site.id)).some((record) => hostNameOf(record) === hostName)
  if (hasIt || (await othersAt(tx, host, now)).length > 0) return
  await add(context, host, hostName)
}
