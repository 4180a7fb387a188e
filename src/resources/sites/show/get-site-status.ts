import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { SiteStatus, statusesOf } from './site-status.ts'

export const getSiteStatus = endpoint({
  id: 'getSiteStatus',
  method: 'GET',
  path: '/v1/sites/{id}/status',
  summary: 'Get the status of a site',
  description:
    'An addition of Stead. Returns what visitors of the site currently get, and why. The `state` of a site is its stage in its lifecycle. `GET /v1/sites/{id}` and lists of sites ' +
    'include the status with `?include=status`.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: SiteStatus,
  etag: true,

  async handle({ tx, site }) {
    const [status] = await statusesOf(tx, [site])
    return status as Type.Static<typeof SiteStatus>
  },
})
