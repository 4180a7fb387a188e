import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { operationThatClones } from '../clone/clone.store.ts'
import { problems } from '../problems.ts'
import { deleteHeldSite } from './delete-held-site.ts'
import { removeSite } from './remove-site.job.ts'

export const deleteSite = endpoint({
  id: 'deleteSite',
  method: 'DELETE',
  path: '/v1/sites/{id}',
  summary: 'Delete a site',
  description:
    'Removes the site from all lists immediately, and visitors get 404. Stead moves its files to the trash in the background. An operator can restore the site while it is in the trash.',
  access: { site: 'delete the site' },
  proof: true,
  params: Type.Object({ id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [problems.site_being_cloned],

  async handle(context) {
    const { tx, site } = context
    const operation = await operationThatClones(tx, site.id)
    if (operation !== undefined) throw new Problem(problems.site_being_cloned, { operation })
    await deleteHeldSite(tx, site, context)
    await context.start(removeSite, { siteId: site.id })
    return null
  },
})
