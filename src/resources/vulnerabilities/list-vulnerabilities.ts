import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { nullable, oneOf, pageInfo, pageOf, pageQuery, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import {
  fixOf,
  installedOfAccount,
  installedOfSite,
  type Vulnerable,
  vulnerabilitiesOf,
  withRows,
} from './vulnerability.store.ts'
import { cvssRatings, vulnerableKinds } from './vulnerability.ts'

const VulnerabilitySchema = Type.Object(
  {
    id: Type.String({ description: 'Its ID in the feed', examples: ['8b1b5ae9-7d5c-4e0f-8a30-2f9c5f0e6d4e'] }),
    title: Type.String({ examples: ['Best Forms <= 2.0: stored cross-site scripting'] }),
    kind: oneOf(vulnerableKinds, { description: '`core` is WordPress itself' }),
    slug: Type.String({ description: '`wordpress` for WordPress itself', examples: ['best-forms'] }),
    name: Type.String({ examples: ['Best Forms'] }),
    severity: nullable(oneOf(cvssRatings)),
    score: nullable(Type.Number({ description: 'CVSS score from 0 to 10', examples: [6.4] })),
    cve: nullable(Type.String({ examples: ['CVE-2026-12345'] })),
    link: nullable(Type.String({ description: 'Page with more about it', examples: ['https://example.com/report'] })),
    published_at: nullable(Timestamp),
    sites: Type.Integer({ description: 'Number of sites with an affected version', examples: [3] }),
    versions: Type.Array(
      Type.Object(
        {
          version: Type.String({ examples: ['2.0'] }),
          sites: Type.Integer({ examples: [3] }),
          fixed_in: nullable(
            Type.String({ description: 'Oldest newer version without it, or null', examples: ['2.1'] }),
          ),
        },
        { title: 'VulnerableVersion' },
      ),
      { description: 'Affected versions on your sites, those of the most sites first' },
    ),
  },
  { title: 'Vulnerability' },
)

export const listVulnerabilities = endpoint({
  id: 'listVulnerabilities',
  method: 'GET',
  path: '/v1/vulnerabilities',
  summary: 'List known vulnerabilities of all sites',
  description:
    'An addition of Stead. Returns one page of the known vulnerabilities of plugins, themes and WordPress on the sites that you can see, the most severe first. Inactive plugins count, too, because their files can be requested. The list is empty if the operator has set no feed.',
  access: { account: 'own' },
  query: Type.Object({
    site_id: Type.Optional(Type.Unsafe<number>({ ...SiteId, description: 'Only vulnerabilities of this site' })),
    kind: Type.Optional(oneOf(vulnerableKinds)),
    severity: Type.Optional(oneOf(cvssRatings)),
    page: pageQuery.page,
    per_page: pageQuery.per_page,
  }),
  response: Type.Array(VulnerabilitySchema),
  paged: true,

  async handle({ tx, caller: { accountId } }, { query }) {
    const asked = pageOf(query)
    const { site_id: siteId, kind, severity } = query
    const installed = await (siteId === undefined
      ? installedOfAccount(tx, accountId)
      : installedOfSite(tx, accountId, siteId))
    const all = await vulnerabilitiesOf(tx, installed, { kind, severity })
    const page = await withRows(tx, all.slice(asked.offset, asked.offset + asked.perPage))
    return reply(page.map(present), { page: pageInfo(asked, all.length) })
  },
})

function present({ row, installed }: Vulnerable): Type.Static<typeof VulnerabilitySchema> {
  const { feed_id: id, title, kind, slug, severity, tenths, cve, link, published_at: publishedAt } = row
  const versions = installed
    .map(({ version, sites }) => ({ version, sites, fixed_in: fixOf(row, version) }))
    .toSorted((a, b) => b.sites - a.sites)
  return {
    ...{ id, title, kind, slug, name: installed[0]?.name || slug, severity, cve, link, versions },
    score: tenths === null ? null : tenths / 10,
    published_at: publishedAt === null ? null : timestamp(publishedAt),
    sites: versions.reduce((sum, { sites }) => sum + sites, 0),
  }
}
