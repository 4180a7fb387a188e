import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { changeImport, findImport } from './import.store.ts'
import { ImportId, ImportSchema, presentImport } from './import.ts'
import { inspectImport } from './inspect-import.job.ts'
import { problems } from './problems.ts'

export const fetchImport = endpoint({
  id: 'fetchImport',
  method: 'POST',
  path: '/v1/sites/{site_id}/imports/{import_id}/fetch',
  summary: 'Fetch the old site with its plugin',
  description:
    'Stead fetches `wp-content` and the tables from the plugin of this import, and inspects them. Install and activate the plugin on the old site first. If it does not answer, the import waits again, with the reason as `error`.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId, import_id: ImportId }),
  response: ImportSchema,
  starts: true,
  problems: [problems.import_not_ready],

  async handle(context, { params }) {
    const { tx, site, caller } = context
    const found = await findImport(tx, site.id, params.import_id)
    if (!found) throw notFound()
    if (found.state !== 'waiting') throw new Problem(problems.import_not_ready, { state: found.state })
    const order = { siteId: site.id, importId: found.id, askedById: caller.accountId }
    const operationId = await context.start(inspectImport, order)
    await changeImport(tx, found.id, { state: 'inspecting', error: null, operationId })
    await context.record({
      action: actions['import.fetching'],
      message: `Fetching the old site for import ${found.id}`,
    })
    return presentImport({ ...found, state: 'inspecting', error: null, operationId }, [])
  },
})
