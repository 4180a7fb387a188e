import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { askingEdges, findMonitoring, incidentsOfSite, opinionsOn } from './monitoring.store.ts'
import {
  DayUptime,
  HISTORY,
  historyOf,
  Incident,
  percentField,
  presentIncident,
  presentState,
  stateFields,
} from './uptime.ts'

const INCIDENTS = 10

export const getSiteUptime = endpoint({
  id: 'getSiteUptime',
  method: 'GET',
  path: '/v1/sites/{id}/uptime',
  summary: 'Get the uptime of a site',
  description: `Returns the state of the site, the last ${HISTORY} days, and the newest ${INCIDENTS} incidents. Every edge asks each live site once a minute.`,
  etag: true,
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Object(
    {
      ...stateFields,
      edges: Type.Object(
        {
          asking: Type.Integer({ description: 'How many edges ask the site', examples: [2] }),
          down: Type.Integer({ description: 'How many of them find that it is down', examples: [0] }),
        },
        { title: 'AskingEdges' },
      ),
      percent: percentField,
      days: Type.Array(DayUptime, { description: 'Oldest first, today last' }),
      incidents: Type.Array(Incident, { description: 'Newest first' }),
    },
    { title: 'SiteUptime' },
  ),

  async handle({ tx, site, now }) {
    const edges = await askingEdges(tx, now)
    const { days, percent } = (await historyOf(tx, [site.id], now))(site.id)
    const incidents = await incidentsOfSite(tx, site.id, { perPage: INCIDENTS, offset: 0 })
    return {
      ...presentState(await findMonitoring(tx, site.id), edges.length > 0),
      edges: await opinionsOn(tx, site.id, edges),
      percent,
      days,
      incidents: incidents.map(presentIncident),
    }
  },
})
