import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { changeImport, findImport } from './import.store.ts'
import { ImportId } from './import.ts'
import { problems } from './problems.ts'
import { removeImport } from './remove-import.job.ts'

export const deleteImport = endpoint({
  id: 'deleteImport',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/imports/{import_id}',
  summary: 'Delete an import',
  description:
    'Removes it with its staged data. The site does not change. You cannot delete an import while an operation works on it: cancel the operation first.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId, import_id: ImportId }),
  response: Nothing,
  starts: true,
  problems: [problems.import_not_ready],

  async handle(context, { params }) {
    const { tx, site } = context
    const found = await findImport(tx, site.id, params.import_id)
    if (!found) throw notFound()
    if (found.state === 'inspecting' || found.state === 'importing')
      throw new Problem(problems.import_not_ready, { state: found.state })
    await context.start(removeImport, { siteId: site.id, importId: found.id })
    await changeImport(tx, found.id, { state: 'failed', error: 'It was deleted.' })
    await context.record({ action: actions['import.deleted'], message: `Deleted import ${found.id}` })
    return null
  },
})
