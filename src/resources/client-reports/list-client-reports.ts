import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { oneOf, pageInfo, pageOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { KEPT_MONTHS, monthsOnOffer } from './gather-report.ts'
import { monthName, monthOf } from './month.ts'

export const listClientReports = endpoint({
  id: 'listClientReports',
  method: 'GET',
  path: '/v1/sites/{id}/client-reports',
  summary: 'List the client reports of a site',
  description: `An addition of Stead. Returns one page of the months with a report, newest first: this one so far, the last one, and earlier ones. Stead keeps ${KEPT_MONTHS} months.`,
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object({
    page: Type.Optional(Type.Integer({ description: 'Page number, starting at 1' })),
    per_page: Type.Optional(Type.Integer({ description: 'Entries per page. Default: 20, maximum: 50' })),
  }),
  response: Type.Array(
    Type.Object(
      {
        month: Type.String({ examples: ['2026-10'] }),
        state: oneOf(['so_far', 'complete'], {
          description: '`so_far`: the month has not ended',
          examples: ['complete'],
        }),
      },
      { title: 'ClientReportMonth' },
    ),
  ),
  paged: true,

  async handle({ tx, site, now }, { query }) {
    const asked = pageOf(query)
    const months = await monthsOnOffer(tx, site, now)
    const shown = months.slice(asked.offset, asked.offset + asked.perPage)
    const stateOf = (month: number) => (month >= monthOf(now) ? ('so_far' as const) : ('complete' as const))
    return reply(
      shown.map((month) => ({ month: monthName(month), state: stateOf(month) })),
      { page: pageInfo(asked, months.length) },
    )
  },
})
