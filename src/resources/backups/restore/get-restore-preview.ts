import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { previewOf } from './restore.store.ts'
import { RestorePreview } from './restore-preview.ts'

export const getRestorePreview = endpoint({
  id: 'getRestorePreview',
  method: 'GET',
  path: '/v1/sites/{site_id}/restores/{operation_id}',
  summary: 'Get the preview of a restore',
  description:
    'Returns the report of a restore with `dry_run`. Use the site that would be overwritten and the number in the `Operation-Id` of the restore. The response is 404 until that operation has succeeded.',
  access: { site: 'restore the site' },
  params: Type.Object({
    site_id: SiteId,
    operation_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  response: RestorePreview,
  etag: true,

  async handle({ tx, site }, { params }) {
    const report = await previewOf(tx, site.id, params.operation_id)
    if (!report) throw notFound()
    return report
  },
})
