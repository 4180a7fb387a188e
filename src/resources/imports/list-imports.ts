import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { checklistOf } from './checklist.ts'
import { listImportsOf } from './import.store.ts'
import { ImportSchema, presentImport } from './import.ts'

export const listImports = endpoint({
  id: 'listImports',
  method: 'GET',
  path: '/v1/sites/{id}/imports',
  summary: 'List the imports of a site',
  description: 'Returns the last 20 imports, newest first.',
  access: { site: 'restore the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(ImportSchema),

  async handle({ tx, site, config }) {
    const found = await listImportsOf(tx, site.id)
    return Promise.all(found.map(async (each) => presentImport(each, await checklistOf(tx, site, each, config))))
  },
})
