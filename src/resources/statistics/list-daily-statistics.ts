import Type from 'typebox'
import { dayName, dayOf } from '../../platform/log-store/days.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { viewsByDay } from './statistics.store.ts'

const DEFAULT_DAYS = 30

const DayViews = Type.Object(
  {
    date: Type.String({ description: 'In UTC', examples: ['2026-01-31'] }),
    people: Type.Integer({ description: 'Unique visits', examples: [128] }),
    views: Type.Integer({ description: 'Page views', examples: [512] }),
  },
  { title: 'DayViews' },
)

export const listDailyStatistics = endpoint({
  id: 'listDailyStatistics',
  method: 'GET',
  path: '/v1/sites/{site_id}/statistics/days',
  summary: 'List page views of a site by day',
  description:
    'An addition of Stead. Returns each day up to today, oldest first, including days without visits. New visits appear within seconds.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object({
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 366,
        description: `Number of days, including today. Default: ${DEFAULT_DAYS}`,
      }),
    ),
  }),
  response: Type.Array(DayViews),

  async handle({ tx, site, now }, { query: { days = DEFAULT_DAYS } }) {
    const today = dayOf(now)
    const found = await viewsByDay(tx, site.id, { from: today - days + 1, to: today })
    return Array.from({ length: days }, (_, at) => {
      const day = today - days + 1 + at
      const [people, views] = found.get(day) ?? [0, 0]
      return { date: dayName(day), people, views }
    })
  },
})
