import Type from 'typebox'
import type { Severity } from '../../hosting/php-log/php-message.ts'
import { phpEntryOf, severityFacet } from '../../hosting/php-log/php-records.ts'
import { oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { logPage, scrollQuery } from './log-page.ts'
import { pageStart, sealScroll } from './scroll.ts'

/** Severities that the log can be filtered by. */
const statuses = ['User', 'Warning', 'Deprecated', 'Fatal error'] as const satisfies readonly Severity[]

const PhpLogEntry = Type.Object(
  {
    message: Type.String({ examples: ['Undefined variable $title'] }),
    severity: Type.String({ description: "PHP's own word; `User`: written by the site's code", examples: ['Warning'] }),
    kind: Type.String({
      description: 'Whose code it is: `plugin`, `mu-plugin`, `theme`, `core`, or empty',
      examples: ['plugin'],
    }),
    name: Type.String({ description: 'Name of the plugin or theme', examples: ['example-plugin'] }),
    file: Type.String({
      description: 'Path from the web root; empty when unknown',
      examples: ['wp-content/plugins/example-plugin/example-plugin.php'],
    }),
    line: Type.Integer({ description: '-1 when unknown', examples: [12] }),
    timestamp: Timestamp,
    atomic_site_id: Type.Integer({ description: 'The site' }),
  },
  { title: 'PhpLogEntry' },
)

export const listPhpLog = endpoint({
  id: 'listPhpLog',
  method: 'GET',
  path: '/v1/sites/{id}/logs/php',
  summary: "Read a site's PHP error log",
  description: 'Errors of the last 7 days, newest first, 200 a page.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object({ status: Type.Optional(oneOf(statuses)), ...scrollQuery }),
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
