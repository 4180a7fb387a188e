import Type from 'typebox'
import { severities } from '../../hosting/php-log/php-message.ts'
import { severityFacet } from '../../hosting/php-log/php-records.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { RETENTION_DAYS } from '../../platform/log-store/log-store.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { phpStatuses } from './list-php-log.ts'

/** The count stops here: with a thousand errors, the exact number does not matter. */
const MOST = 1000

export const countPhpLog = endpoint({
  id: 'countPhpLog',
  method: 'GET',
  path: '/v1/sites/{id}/logs/php/count',
  summary: "Count entries of a site's PHP error log",
  description: `An addition of Stead. Counts the entries of the last 7 days, of one severity if you name it, up to ${MOST}. With the status \`Database error\`, it tells how many database statements of the site failed.`,
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object({ status: Type.Optional(oneOf(phpStatuses)) }),
  response: Type.Object(
    { count: Type.Integer({ description: `${MOST} stands for that many or more`, maximum: MOST, examples: [12] }) },
    { title: 'PhpLogCount' },
  ),
  etag: true,

  async handle({ site, logs, now }, { query }) {
    const sinceMs = now - RETENTION_DAYS * DAY_MS
    const facets = (query.status ? [query.status] : severities).map(severityFacet)
    return { count: await logs.count({ kind: 'php', siteId: site.id, sinceMs, facets, most: MOST }) }
  },
})
