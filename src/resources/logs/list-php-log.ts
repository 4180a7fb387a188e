import Type from 'typebox'
import type { Severity } from '../../hosting/php-log/php-message.ts'
import { phpEntryOf, severityFacet } from '../../hosting/php-log/php-records.ts'
import { oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { logPage, scrollQuery } from './log-page.ts'
import { pageStart, sealScroll } from './scroll.ts'

/** The severities to filter by. */
export const phpStatuses = [
  'User',
  'Warning',
  'Deprecated',
  'Fatal error',
  'Database error',
] as const satisfies readonly Severity[]

const PhpLogEntry = Type.Object(
  {
    message: Type.String({ examples: ['Undefined variable $title'] }),
    severity: Type.String({
      description:
        "Type of the error in PHP. `User` means that the site's code wrote the entry, `Database error` that a database statement failed",
      examples: ['Warning'],
    }),
    kind: Type.String({
      description: 'Origin of the code: `plugin`, `mu-plugin`, `theme`, `core` or empty',
      examples: ['plugin'],
    }),
    name: Type.String({ description: 'Name of the plugin or theme', examples: ['example-plugin'] }),
    file: Type.String({
      description: 'Path relative to the web root. Empty if unknown',
      examples: ['wp-content/plugins/example-plugin/example-plugin.php'],
    }),
    line: Type.Integer({ description: 'Line number. -1 if unknown', examples: [12] }),
    timestamp: Timestamp,
    atomic_site_id: Type.Integer({ description: 'Id of the site' }),
  },
  { title: 'PhpLogEntry' },
)

export const listPhpLog = endpoint({
  id: 'listPhpLog',
  method: 'GET',
  path: '/v1/sites/{id}/logs/php',
  summary: "Get a site's PHP error log",
  description: 'Returns errors of the last 7 days, newest first, 200 per page.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object({ status: Type.Optional(oneOf(phpStatuses)), ...scrollQuery }),
  response: logPage('PhpLog', PhpLogEntry),

  async handle({ site, logs, sealer, now }, { query }) {
    const start = pageStart(sealer, 'php', site.id, query.scroll_id, now)
    const records = await logs.page({ ...start, facets: query.status && [severityFacet(query.status)] })
    return {
      total_results: null,
      logs: records.map((record) => {
        const { atMs, siteId, ...entry } = phpEntryOf(record)
        return { ...entry, timestamp: timestamp(atMs), atomic_site_id: siteId }
      }),
      scroll_id: sealScroll(sealer, 'php', site.id, records.at(-1) ?? start.before),
    }
  },
})
