import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, nullable, oneOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countMonitored, monitoredPage } from './monitoring.store.ts'
import { HISTORY, historyOf, isAsked, monitoringStates, percentField, presentState, stateFields } from './uptime.ts'

export const listMonitoredSites = endpoint({
  id: 'listMonitoredSites',
  method: 'GET',
  path: '/v1/monitoring',
  summary: 'List the states of all sites',
  description: `Returns one page of the sites that you can see, in order of name, with their state at this time and their uptime in the last ${HISTORY} days.`,
  access: { account: 'own' },
  query: Type.Object({
    state: Type.Optional(oneOf(monitoringStates, { description: 'Only sites in this state' })),
    ...pageQuery,
  }),
  response: Type.Array(
    Type.Object(
      {
        id: Type.Integer({ examples: [12] }),
        name: Type.String({ examples: ['shop-one'] }),
        display_name: Type.String({ examples: ['Shop One'] }),
        primary_domain: nullable(Type.String({ examples: ['shop.example.com'] })),
        staging: Type.Boolean(),
        ...stateFields,
        percent: percentField,
        days: Type.Array(nullable(Type.Number({ examples: [100] })), {
          description: `Uptime of each of the last ${HISTORY} days in percent, today last. Null: no questions`,
          minItems: HISTORY,
          maxItems: HISTORY,
          examples: [Array.from({ length: HISTORY }, () => 100)],
        }),
      },
      { title: 'MonitoredSite' },
    ),
  ),
  paged: true,

  async handle({ tx, caller, now }, { query }) {
    const asked = pageOf(query)
    const filter = { accountId: caller.accountId, state: query.state, isAsked: await isAsked(tx, now) }
    const sites = await monitoredPage(tx, filter, asked)
    const history = await historyOf(
      tx,
      sites.map(({ id }) => id),
      now,
    )
    const data = sites.map(({ id, name, display_name, primary_domain, staging, ...found }) => {
      const { days, percent } = history(id)
      return {
        ...{ id, name, display_name, primary_domain, staging: staging === 1 },
        ...presentState(found, filter.isAsked),
        percent,
        days: days.map((day) => day.percent),
      }
    })
    return reply(data, await besidesOf(asked, sites, () => countMonitored(tx, filter)))
  },
})
