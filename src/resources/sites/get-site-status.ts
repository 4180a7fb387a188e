import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { SiteStatus, statusesOf } from './site-status.ts'

export const getSiteStatus = endpoint({
  id: 'getSiteStatus',
  method: 'GET',
  path: '/v1/sites/{id}/status',
  summary: 'Get what visitors of a site get now, and why',
  description:
    'An addition of Stead. `state` of a site says how far it is in its life; this says what its visitors get. Lists of sites, and the site itself, ' +
    'include the same with `?include=status`.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteStatus,
  etag: true,

  async handle({ tx, site }) {
    const [status] = await statusesOf(tx, [site])
    return status as Type.Static<typeof SiteStatus>
  },
})
