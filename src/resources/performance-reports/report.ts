import Type, { type TSchema } from 'typebox'
import { nullable, Timestamp } from '../../platform/http/schemas.ts'

export const devices = ['desktop', 'mobile'] as const
export type Device = (typeof devices)[number]

/** Names in the API, with Lighthouse's names. */
export const categoryNames = {
  performance: 'performance',
  accessibility: 'accessibility',
  best_practices: 'best-practices',
  seo: 'seo',
} as const
export const auditNames = {
  first_contentful_paint: 'first-contentful-paint',
  interactive: 'interactive',
  speed_index: 'speed-index',
  total_blocking_time: 'total-blocking-time',
  largest_contentful_paint: 'largest-contentful-paint',
  cumulative_layout_shift: 'cumulative-layout-shift',
  server_response_time: 'server-response-time',
} as const

/** Audits of Lighthouse that name something to improve. The others only measure. */
export const opportunityAudits = [
  ...['render-blocking-insight', 'image-delivery-insight', 'document-latency-insight', 'lcp-discovery-insight'],
  ...['font-display-insight', 'cache-insight', 'dom-size-insight', 'third-parties-insight'],
  ...['legacy-javascript-insight', 'duplicated-javascript-insight', 'unused-css-rules', 'unused-javascript'],
  ...['unminified-css', 'unminified-javascript'],
] as const

/** The audit that has the screenshot. */
export const THUMBNAIL_AUDIT = 'final-screenshot'

const score = nullable(Type.Number({ minimum: 0, maximum: 1, description: '0 to 1', examples: [0.98] }))
const text = (description: string, example: string) => nullable(Type.String({ description, examples: [example] }))

const categoryFields = (name: string): Record<string, TSchema> => ({
  [`${name}_score`]: score,
  [`${name}_title`]: text('Score of the category', 'Performance'),
})
const auditFields = (name: string): Record<string, TSchema> => ({
  [`${name}_title`]: text('Score of the audit', 'Speed Index'),
  [`${name}_description`]: text('Description of the audit', 'How quickly the page is shown.'),
  [`${name}_score`]: score,
  [`${name}_display_value`]: text('Value in readable form', '1.2 s'),
  [`${name}_numeric_value`]: text('Measured value', '1234.5'),
  [`${name}_numeric_unit`]: text('Unit of the value', 'millisecond'),
})

const fields: Record<string, TSchema> = {
  final_url: text('Final URL after redirects', 'http://my-first-site.example.com/'),
  ...Object.assign({}, ...Object.keys(categoryNames).map(categoryFields)),
  ...Object.assign({}, ...Object.keys(auditNames).map(auditFields)),
  lighthouse_version: text('Version of Lighthouse', '13.5.0'),
  fetch_time: nullable(Timestamp),
}

/** All fields of the measurement. */
export const measuredFields: readonly string[] = Object.keys(fields)
/** Presents the measurement as in the API. */
export type Measured = Record<string, string | number | null>

export const Opportunity = Type.Object(
  {
    title: Type.String({ examples: ['Render blocking requests'] }),
    description: text('What to do, with links in Markdown', 'Requests are blocking the initial render of the page.'),
    display_value: text('Estimated savings', 'Est savings of 150 ms'),
  },
  { title: 'PerformanceOpportunity' },
)
export type Opportunity = Type.Static<typeof Opportunity>

const Half = (title: string) =>
  Type.Object(
    {
      created_at: Timestamp,
      updated_at: Timestamp,
      thumbnail_location: text('Path of the screenshot. It requires the same token', '/v1/sites/1/reports/…'),
      ...fields,
    },
    { title },
  )

export const PerformanceReport = Type.Object(
  { desktop_report: Half('DesktopReport'), mobile_report: Half('MobileReport') },
  { title: 'PerformanceReport' },
)

/** Returns the path of the picture of a report. */
export const pictureLocation = (siteId: number, reportId: number, device: Device): string =>
  `/v1/sites/${siteId}/reports/performance/${reportId}/thumbnails/${device}`
