import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { aboutSite } from '../../kit/change.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { holdSite, problems as siteProblems } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { requestRelocation } from './request-relocation.ts'

const Relocation = Type.Object(
  {
    host: Type.Optional(
      Type.String({
        description: 'Name of the new host. Default: the host of the datacenter with the most room',
        minLength: 1,
        maxLength: 100,
        examples: ['host-2'],
      }),
    ),
  },
  { title: 'Relocation' },
)
const Relocating = Type.Object({ host: Type.String({ examples: ['host-2'] }) }, { title: 'Relocating' })

export const relocateSite = endpoint({
  id: 'relocateSite',
  method: 'POST',
  path: '/v1/sites/{id}/relocate',
  summary: 'Move a site to another host',
  description:
    'An addition of Stead. Only the operator can move sites between hosts, and both hosts must use the same backup storage. Stead copies the site while it is open. Then it closes the site (503 with `Retry-After`), copies what has changed, compares files and database, and opens the site on the new host. If anything fails, the site stays where it is. Follow the progress with the operation in `Operation-Id`. The old host keeps its copy for a day.',
  access: { account: 'operator' },
  params: Type.Object({ id: SiteId }),
  body: Relocation,
  response: Relocating,
  starts: true,
  problems: [
    problems.storage_not_shared,
    problems.host_unknown,
    problems.host_unfit,
    problems.site_on_host,
    problems.relocation_open,
    siteProblems.site_not_live,
    siteProblems.no_host,
  ],

  async handle(context, { params, body }) {
    const { tx, config, caller } = context
    const site = await holdSite(tx, params.id)
    if (!site) throw notFound()
    const { host } = await requestRelocation(tx, site, { ...body, config, accountId: caller.accountId }, context)
    await context.record({
      action: actions['site.relocation_requested'],
      message: `Requested the move to the host ${host}`,
      about: aboutSite(site),
    })
    return { host }
  },
})
