import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { checklistOf } from './checklist.ts'
import { changeImport, findImport } from './import.store.ts'
import { alwaysLeftOut, ImportId, ImportSchema, presentImport } from './import.ts'
import { importSite } from './import-site.job.ts'
import { problems } from './problems.ts'

export const startImport = endpoint({
  id: 'startImport',
  method: 'POST',
  path: '/v1/sites/{site_id}/imports/{import_id}/start',
  summary: 'Start an inspected import',
  description:
    'Replaces `wp-content` and the database of the site. Stead prepares everything while the site stays open. Then the site is closed until its WordPress answers with the imported content. If it does not answer, Stead restores the previous content. ' +
    'The site keeps its release of WordPress, its wp-config.php (except for the table prefix) and its address, which replaces the old addresses everywhere. ' +
    'Stead keeps the overwritten content for 7 days: `POST /v1/operations/{id}/undo`.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId, import_id: ImportId }),
  body: Type.Object(
    {
      leave_out: Type.Optional(
        Type.Array(
          Type.String({
            pattern: '^wp-content/(?!.*(?:^|/)\\.{0,2}(?:/|$)).{1,900}$',
            examples: ['wp-content/plugins/sg-cachepress'],
          }),
          {
            maxItems: 500,
            description:
              'Files and folders to leave out, instead of `leftOut` of the plan. Drop-ins of the old host are always left out',
          },
        ),
      ),
      fetch_again: Type.Optional(
        Type.Boolean({
          description:
            'For an import from a running old site: fetch changed files and a fresh dump first. Default: true',
          examples: [true],
        }),
      ),
    },
    { title: 'ImportStart' },
  ),
  response: ImportSchema,
  starts: true,
  problems: [problems.import_not_ready, problems.import_blocked, siteProblems.site_not_live],

  async handle(context, { params, body }) {
    const { tx, site, caller, config } = context
    const found = await findImport(tx, site.id, params.import_id)
    if (!found) throw notFound()
    requireInstalled(site)
    const { plan } = found
    if (found.state !== 'ready' || !plan) throw new Problem(problems.import_not_ready, { state: found.state })
    const [blocker] = plan.blockers
    if (blocker) throw new Problem(problems.import_blocked, { reason: blocker.replace(/\.$/, '') })
    const leaveOut = [...(body.leave_out ?? plan.leftOut.map(({ path }) => path)), ...alwaysLeftOut(plan)]
    const order = {
      ...{ siteId: site.id, importId: found.id, leaveOut: [...new Set(leaveOut)] },
      ...{ askedById: caller.accountId, fetchAgain: found.live !== null && (body.fetch_again ?? true) },
    }
    const operationId = await context.start(importSite, order)
    await changeImport(tx, found.id, { state: 'importing', error: null, operationId })
    await context.record({ action: actions['import.started'], message: `Started the import of ${plan.from.home}` })
    const started = { ...found, state: 'importing' as const, error: null, operationId }
    return presentImport(started, await checklistOf(tx, site, found, config))
  },
})
