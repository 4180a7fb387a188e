import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { countIncidents, incidentsOfSite } from './monitoring.store.ts'
import { HISTORY, Incident, presentIncident } from './uptime.ts'

export const listSiteIncidents = endpoint({
  id: 'listSiteIncidents',
  method: 'GET',
  path: '/v1/sites/{id}/incidents',
  summary: 'List the incidents of a site',
  description: `Returns one page of the times in which the site was down, newest first. Incidents are kept for ${HISTORY} days after their end.`,
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object(pageQuery),
  response: Type.Array(Incident),
  paged: true,

  async handle({ tx, site }, { query }) {
    const asked = pageOf(query)
    const incidents = await incidentsOfSite(tx, site.id, asked)
    return reply(incidents.map(presentIncident), await besidesOf(asked, incidents, () => countIncidents(tx, site.id)))
  },
})
