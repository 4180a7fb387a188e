import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { purgeCaches } from '../sites/public.ts'
import { actions } from './actions.ts'

export const purgeCdn = endpoint({
  id: 'purgeCdn',
  method: 'DELETE',
  path: '/v1/sites/{id}/cache',
  summary: 'Clear the CDN',
  description: "Stead serves the site's current files from now on. Copies in browsers stay until they expire.",
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: Nothing,

  async handle(context) {
    const { tx, site } = context
    await context.record({ action: actions['cdn.purged'], message: 'Cleared the CDN' })
    await purgeCaches(tx, site.id, { files: 'all' })
    return null
  },
})
