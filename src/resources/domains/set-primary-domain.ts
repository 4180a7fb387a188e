import Type from 'typebox'
import { invalidInput, notFound } from '../../platform/http/problem.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import { domainsOfSite } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import {
  configureSite,
  requireInstalled,
  setPrimaryDomain,
  problems as siteProblems,
  stagingHostName,
} from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { checksOfSite } from './check.store.ts'
import { DomainSchema, domainWith, presentDomain, presentStaging, STAGING_ID, separateRecords } from './domain.ts'

export const setPrimary = endpoint({
  id: 'setPrimaryDomain',
  method: 'PUT',
  path: '/v1/sites/{site_id}/domains/{id}/primary',
  summary: 'Set the primary domain',
  description:
    "Updates the address in WordPress (settings, links, media and serialized values). Then the site's other domains redirect to it. " +
    'Use `-1` instead of an id for the address under the staging domain.',
  access: { site: 'manage DNS' },
  params: Type.Object({
    site_id: SiteId,
    id: Type.Integer({
      minimum: STAGING_ID,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Id of the domain, or -1 for the staging address',
    }),
  }),
  query: Type.Object(separateRecords),
  body: Type.Object(separateRecords, { title: 'PrimaryDomain' }),
  response: DomainSchema,
  starts: true,
  problems: [siteProblems.site_not_live],

  async handle(context, { params, body, query }) {
    const { tx, site, config, now } = context
    const { id } = params
    const domain = id === STAGING_ID ? undefined : domainWith(await domainsOfSite(tx, site.id), id)
    if (id !== STAGING_ID && !domain) throw notFound()
    if (domain && isWildcard(domain.hostName))
      throw invalidInput([`id: ${domain.hostName} is a wildcard. Add the host name that the site should have.`])
    requireInstalled(site)
    const primaryDomain = domain?.hostName ?? null
    if (primaryDomain !== site.primaryDomain) await setPrimaryDomain(tx, site, primaryDomain, now)
    const shown = primaryDomain ?? stagingHostName(site.name, config)
    await context.record({
      action: actions['domain.primary'],
      message: `Made ${shown} the primary domain`,
      event: { type: events.primary_domain_set, data: { domain: shown } },
    })
    await context.start(configureSite, { siteId: site.id })
    if (!domain) return presentStaging({ ...site, primaryDomain }, config)
    const records = domain.records.map((record) => ({ ...record, isPrimary: true }))
    const isSeparate = body.separate_records ?? query.separate_records
    const asked = isSeparate
      ? { ...domain, id, records: records.filter((record) => record.id === id) }
      : { ...domain, records }
    return presentDomain(asked, (await checksOfSite(tx, site.id)).get(domain.hostName))
  },
})
