import { httpProblems, notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { requireAccess } from '../access/access.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { problems as backupProblems, requestSync, requestSyncPreview, rightsOfSync } from '../backups/public.ts'
import type { Caller } from '../kit/caller.ts'
import type { Change } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { problems as siteProblems, type VisibleSite } from '../sites/public.ts'
import { EnvironmentPath } from './environment.ts'
import { linkedEnvironment } from './linked-environment.ts'
import { problems } from './problems.ts'
import { contentOf, Transfer } from './transferred-content.ts'

/** Shared by push and pull. */
export const common = {
  params: EnvironmentPath,
  body: Transfer,
  response: Nothing,
  starts: true,
  problems: [
    problems.environment_of_nothing,
    backupProblems.sync_unlike_sites,
    siteProblems.site_not_live,
    authenticationProblems.forbidden,
    httpProblems.not_found,
  ],
} as const

export const HOW =
  'The presets are `everything`, `code` (plugins, themes and must-use plugins), `content` (uploads and the database), and `chosen`. ' +
  'Stead backs up the site that is overwritten, and keeps the backups for 7 days without using a slot. Then it works as `POST /v1/sites/sync`, with the same roles on both sites, and you can undo it in the same way. ' +
  'With `dry_run`, nothing changes. Read the report with `GET /v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}`.'

/** Starts a push or pull, or its preview. */
export async function transferContent(
  context: Context & Change & { readonly site: VisibleSite; readonly caller: Caller },
  direction: 'push' | 'pull',
  environmentId: number,
  body: Transfer,
): Promise<null> {
  const { site: live, caller } = context
  const wanted = contentOf(body)
  const found = await linkedEnvironment(context, environmentId)
  if (!found) throw notFound()
  const { environment, link } = found
  const sites = direction === 'push' ? { from: environment, to: live } : { from: live, to: environment }
  for (const { siteId, capability } of rightsOfSync({ siteId: sites.to.id, sourceId: sites.from.id }))
    requireAccess(capability, caller, siteId === live.id ? live : environment)
  if (body.dry_run) await requestSyncPreview(context, sites, wanted, link.levelAt)
  else await requestSync(context, sites, { ...wanted, skipHttpCheck: body.skip_http_check === true }, { slots: false })
  return null
}
