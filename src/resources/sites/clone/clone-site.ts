import Type from 'typebox'
import type { Config } from '../../../config.ts'
import { isUniqueViolation } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { openOperations } from '../../../platform/operations/open-operations.ts'
import { copiedFlags } from '../../../site-flags.ts'
import { isReservedSiteName } from '../../access/reserved-names.ts'
import { problems as accountProblems, planNamed } from '../../account/public.ts'
import { aboutSite } from '../../kit/change.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions } from '../actions.ts'
import { putRoute } from '../addresses/route.store.ts'
import { countAgainstPlan } from '../create/count-against-plan.ts'
import { creationFacts } from '../create/creation.store.ts'
import { choosePlace, type HostRoom } from '../create/placement.ts'
import { problems } from '../problems.ts'
import { presentSite, SiteSchema } from '../show/present-site.ts'
import { insertSite, type SiteDraft, usualEnvironment } from '../site.store.ts'
import { type EnvironmentType, NewSite, requireInstalled, type Site, stagingHostName } from '../site.ts'
import { cloneSiteJob } from './clone-site.job.ts'

export const cloneSite = endpoint({
  id: 'cloneSite',
  method: 'POST',
  path: '/v1/sites/{site_id}/clone',
  summary: 'Clone a site',
  description:
    "Returns a site in state `cloning`. Its state becomes `live` when it responds to visitors. The source stays open. The clone gets the files, database, PHP version and tags of the source, rewritten to its own address. It does not get domains, DNS records, collaborators, backups or notes. The clone belongs to the owner of the source and counts against that account's plan.",
  access: { site: 'clone the site' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object(
    {
      name: Type.String({ ...NewSite.properties.name, examples: ['my-first-copy'] }),
      staging: NewSite.properties.staging,
      datacenter_code: Type.Optional(
        Type.String({
          description: 'Must be served by the host of the source. Default: the datacenter of the source',
        }),
      ),
    },
    { title: 'NewClone' },
  ),
  response: SiteSchema,
  starts: true,
  problems: [
    problems.site_not_live,
    problems.name_taken,
    problems.name_reserved,
    problems.site_limit_reached,
    problems.plan_lacks_multisite,
    accountProblems.account_leaving,
    accountProblems.unknown_datacenter,
    problems.clone_elsewhere,
    problems.no_host,
  ],

  async handle(context, { body }) {
    const { tx, site: source, config, siteHooks, now } = context
    requireInstalled(source)
    const name = body.name.toLowerCase()
    const isStaging = body.staging ?? false
    const { account, hosts } = await creationFacts(tx, source.accountId)
    const plan = planNamed(account.plan)
    if (isReservedSiteName(name, config)) throw new Problem(problems.name_reserved, { name })
    if (source.hasMultisite && !plan.multisite) throw new Problem(problems.plan_lacks_multisite, { plan: plan.name })
    const place = placeBeside(source, body.datacenter_code, config, hosts)
    // The clone runs after what was requested for the source before.
    const after = await openOperations(tx, source.id)
    const site = await insertSite(tx, { ...draftOf(source, isStaging), ...place, name }, now).catch((error) => {
      throw isUniqueViolation(error) ? new Problem(problems.name_taken, { name }) : error
    })
    await putRoute(tx, site.id, stagingHostName(name, config), now)
    const about = aboutSite(site)
    await context.record({ action: actions['site.cloned'], message: `Cloned ${source.name} to ${name}`, about })
    let shown = site
    for (const { ordered } of siteHooks) shown = { ...shown, ...(await ordered?.(tx, site, context)) }
    await context.start(cloneSiteJob, { siteId: site.id, sourceId: source.id }, { about, after })
    await countAgainstPlan(tx, account, isStaging)
    return presentSite(shown, config, now)
  },
})

function draftOf(source: Site, isStaging: boolean): Omit<SiteDraft, 'name' | 'datacenterCode' | 'hostId'> {
  const { accountId, phpVersion, install, adminUsername, adminEmail } = source
  const { id: clonedFromId, coreChannel } = source
  const copied = { clonedFromId, coreChannel, environmentType: environmentOf(source, isStaging) }
  const flags = copiedFlags(source)
  return { accountId, phpVersion, install, flags, adminUsername, adminEmail, isStaging, copied }
}

/**
 * Returns the source's environment type, with two exceptions. A staging clone of a production site becomes staging,
 * because its plugins must not charge or contact customers. A live clone of a staging site becomes production.
 */
function environmentOf({ environmentType, isStaging }: Site, isStagingClone: boolean): EnvironmentType {
  const isOfKind = environmentType === 'staging' || environmentType === 'production'
  return isStagingClone !== isStaging && isOfKind ? usualEnvironment(isStagingClone) : environmentType
}

/** @throws Problem `unknown_datacenter`, `clone_elsewhere`, `no_host` */
function placeBeside(
  source: Site,
  asked: string | undefined,
  { datacenters }: Config,
  hosts: readonly HostRoom[],
): { datacenterCode: string; hostId: number } {
  const own = hosts.filter(({ id }) => id === source.hostId)
  const served = own[0]?.datacenters ?? []
  const isKnown = asked === undefined || datacenters.some(({ code }) => code === asked)
  if (asked !== undefined && isKnown && served.length > 0 && !served.includes(asked))
    throw new Problem(problems.clone_elsewhere, { codes: served.join(', ') })
  return choosePlace(asked, source.datacenterCode, datacenters, own)
}
