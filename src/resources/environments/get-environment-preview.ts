import Type from 'typebox'
import { httpProblems, notFound } from '../../platform/http/problem.ts'
import { requireAccess } from '../access/access.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { previewOfSync, SyncPreview } from '../backups/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { EnvironmentPath } from './environment.ts'
import { linkedEnvironment } from './linked-environment.ts'

export const getEnvironmentPreview = endpoint({
  id: 'getEnvironmentPreview',
  method: 'GET',
  path: '/v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}',
  summary: 'Get the preview of a push or pull',
  description:
    'An addition of Stead. Returns the report of a push or pull with `dry_run`: the files that change, and what is newer on the site that would be overwritten. Use the number in the `Operation-Id` of that request. ' +
    'The response is 404 until the operation has succeeded. You need the same roles as for the push or pull.',
  access: { site: 'read the site' },
  params: Type.Object({
    ...EnvironmentPath.properties,
    operation_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  response: SyncPreview,
  etag: true,
  problems: [authenticationProblems.forbidden, httpProblems.not_found],

  async handle(context, { params }) {
    const { tx, site: live, caller } = context
    const found = await linkedEnvironment(context, params.environment_id)
    if (!found) throw notFound()
    const { environment } = found
    const both = [live, environment]
    for (const to of both) {
      const report = (await previewOfSync(tx, to.id, params.operation_id)) as SyncPreview | undefined
      const from = both.find(({ id }) => id === report?.fromSiteId)
      if (!report || !from) continue
      requireAccess('use backups', caller, from)
      requireAccess('restore the site', caller, to)
      return report
    }
    throw notFound()
  },
})
