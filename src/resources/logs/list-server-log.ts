import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import Type from 'typebox'
import { accessEntryOf, accessFacets, requestTypes } from '../../edge/records/access-records.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { oneOf, Timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { logPage, scrollQuery } from './log-page.ts'
import { pageStart, sealScroll } from './scroll.ts'

const ServerLogEntry = Type.Object(
  {
    body_bytes_sent: Type.Integer({ examples: [18432] }),
    cached: Type.String({ description: 'Edge cache status. Empty if the cache was not used', examples: ['HIT'] }),
    date: Timestamp,
    http2: Type.String({ description: '`h2` for HTTP/2, otherwise empty', examples: [''] }),
    http_host: Type.String({ examples: ['my-first-site.example.com'] }),
    http_referer: Type.String({ examples: [''] }),
    http_user_agent: Type.String({ examples: ['Mozilla/5.0'] }),
    http_version: Type.String({ examples: ['HTTP/1.1'] }),
    http_x_forwarded_for: Type.String({ description: 'Header from the visitor, not verified', examples: [''] }),
    renderer: Type.String({ description: 'Source of the body: `php`, `static` or `edge`', examples: ['php'] }),
    request_completion: Type.String({
      description: '`OK`, or empty if the visitor did not receive the complete response',
      examples: ['OK'],
    }),
    request_time: Type.Number({ description: 'Seconds', examples: [0.004] }),
    request_type: Type.String({ examples: ['GET'] }),
    request_url: Type.String({ examples: ['/hello-world/'] }),
    scheme: Type.String({ examples: ['http'] }),
    status: Type.Integer({ examples: [200] }),
    timestamp: Type.Integer({ description: 'Unix time', examples: [1769852000] }),
    type: Type.String({
      description: '`access`, or `notice` if `request_url` contains the number of omitted requests',
      examples: ['access'],
    }),
    user_ip: Type.String({ examples: ['192.0.2.7'] }),
  },
  { title: 'ServerLogEntry' },
)

export const listServerLog = endpoint({
  id: 'listServerLog',
  method: 'GET',
  path: '/v1/sites/{id}/logs/server',
  summary: "Get a site's web server log",
  description: "Returns visitors' requests of the last 7 days, newest first, 200 per page.",
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object({
    status: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['integer', 'string'],
        description: 'One or more statuses from 100 to 599, separated by commas',
      }),
    ),
    request_type: Type.Optional(oneOf(requestTypes)),
    user_ip: Type.Optional(Type.String({ maxLength: 45, description: 'IP address of the visitor' })),
    ...scrollQuery,
  }),
  response: logPage('ServerLog', ServerLogEntry),

  async handle({ site, logs, sealer, now }, { query }) {
    const start = pageStart(sealer, 'server', site.id, query.scroll_id, now)
    const facets = accessFacets(statusesOf(query.status), query.request_type)
    const records = await logs.page({ ...start, facets, key: addressOf(query.user_ip) })
    return {
      total_results: null,
      logs: records.map(accessEntryOf),
      scroll_id: sealScroll(sealer, 'server', site.id, records.at(-1) ?? start.before),
    }
  },
})

/** @throws Problem `invalid_input` */
function statusesOf(given: string | number | undefined): number[] | undefined {
  if (given === undefined || given === '') return undefined
  const parts = String(given)
    .split(',')
    .map((part) => part.trim())
  if (!parts.every((part) => /^[1-5]\d\d$/.test(part)))
    throw invalidInput(['status: must be one or more statuses from 100 to 599, separated by commas'])
  return [...new Set(parts.map(Number))]
}

/**
 * The entry as the edge writes it.
 * @throws Problem `invalid_input`
 */
function addressOf(given: string | undefined): string | undefined {
  const text = given?.trim()
  if (!text) return undefined
  if (!isIP(text)) throw invalidInput(['user_ip: must be an IPv4 or IPv6 address'])
  return ipaddr.process(text).toString()
}
