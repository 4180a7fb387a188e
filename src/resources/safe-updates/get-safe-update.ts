import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findUpdate } from './safe-update.store.ts'
import { presentReport, SafeUpdateReport } from './safe-update.ts'

export const getSafeUpdate = endpoint({
  id: 'getSafeUpdate',
  method: 'GET',
  path: '/v1/sites/{site_id}/safe-updates/{update_id}',
  summary: 'Get the report of a safe update',
  description:
    'An addition of Stead. Returns what was updated, each page before and after, and why the update was undone.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, update_id: Type.Integer({ minimum: 1, examples: [1] }) }),
  response: SafeUpdateReport,
  etag: true,

  async handle({ tx, site }, { params }) {
    const update = await findUpdate(tx, site.id, params.update_id)
    if (!update) throw notFound()
    return presentReport(site.id, update)
  },
})
