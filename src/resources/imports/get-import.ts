import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { checklistOf } from './checklist.ts'
import { findImport } from './import.store.ts'
import { ImportId, ImportSchema, presentImport } from './import.ts'

export const getImport = endpoint({
  id: 'getImport',
  method: 'GET',
  path: '/v1/sites/{site_id}/imports/{import_id}',
  summary: 'Read an import',
  description:
    'Includes its plan once the archive is inspected, and the steps until visitors reach the new site. After the import, it also compares the front page and five other pages with those of the old site, if that responds.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId, import_id: ImportId }),
  response: ImportSchema,
  etag: true,

  async handle({ tx, site, config }, { params }) {
    const found = await findImport(tx, site.id, params.import_id)
    if (!found) throw notFound()
    return presentImport(found, await checklistOf(tx, site, found, config))
  },
})
