import type { PhpVersion } from '../../../hosting/php/runtime.ts'
import { isUniqueViolation } from '../../../platform/db/database.ts'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { isMailAddress } from '../../../platform/mail/mail-address.ts'
import { isReservedSiteName } from '../../access/reserved-names.ts'
import { problems as accountProblems, planNamed } from '../../account/public.ts'
import { aboutSite } from '../../kit/change.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { putRoute } from '../addresses/route.store.ts'
import { problems } from '../problems.ts'
import { requireVersion, runtimesOfHost, versionOfNewSite } from '../runtime.store.ts'
import { presentSite, SiteSchema } from '../show/present-site.ts'
import { insertSite } from '../site.store.ts'
import { NewSite, stagingHostName } from '../site.ts'
import { countAgainstPlan } from './count-against-plan.ts'
import { creationFacts, hostsThatRun } from './creation.store.ts'
import { choosePlace } from './placement.ts'
import { provisionSite } from './provision-site.job.ts'

export const createSite = endpoint({
  id: 'createSite',
  method: 'POST',
  path: '/v1/sites',
  summary: 'Create a site',
  description:
    'Returns a site in state `deploying`. Its state becomes `live` when it responds to visitors. Follow the progress with the operation in `Operation-Id`.',
  access: { account: 'createSites' },
  body: NewSite,
  status: 201,
  response: SiteSchema,
  starts: true,
  problems: [
    problems.name_taken,
    problems.name_reserved,
    problems.site_limit_reached,
    problems.plan_lacks_multisite,
    accountProblems.account_leaving,
    accountProblems.unknown_datacenter,
    problems.no_host,
    problems.php_version_not_there,
  ],

  async handle(context, { body }) {
    const { tx, ownerId, config, siteHooks, now } = context
    const name = body.name.toLowerCase()
    const administrator = administratorOf(body)
    const { account, hosts } = await creationFacts(tx, ownerId)
    const plan = planNamed(account.plan)
    if (isReservedSiteName(name, config)) throw new Problem(problems.name_reserved, { name })
    if (body.multisite_support && !plan.multisite) throw new Problem(problems.plan_lacks_multisite, { plan: plan.name })
    const isStaging = body.staging ?? false
    const fitting = await hostsThatRun(tx, hosts, body.php_version)
    const place = choosePlace(body.datacenter_code, account.defaultDatacenter, config.datacenters, fitting)
    const runtimes = await runtimesOfHost(tx, place.hostId)
    const install = body.install ?? 'wordpress'
    const usual = account.defaultPhpVersion as PhpVersion
    const phpVersion = body.php_version ?? versionOfNewSite(runtimes, usual, install)
    requireVersion(runtimes, phpVersion, undefined)
    const draft = {
      accountId: account.id,
      name,
      isStaging,
      datacenterCode: place.datacenterCode,
      hostId: place.hostId,
      phpVersion,
      install,
      flags: { hasMultisite: body.multisite_support ?? false },
      adminUsername: administrator?.username ?? 'admin',
      adminEmail: administrator?.email ?? account.email,
    } as const
    const site = await insertSite(tx, draft, now).catch((error) => {
      throw isUniqueViolation(error) ? new Problem(problems.name_taken, { name }) : error
    })
    await putRoute(tx, site.id, stagingHostName(name, config), now)
    const message = `Created ${isStaging ? 'staging' : 'live'} site ${name}`
    const about = aboutSite(site)
    await context.record({ action: actions['site.created'], message, about })
    let shown = site
    for (const { ordered } of siteHooks) shown = { ...shown, ...(await ordered?.(tx, site, context)) }
    await context.start(provisionSite, { siteId: site.id }, { about })
    await countAgainstPlan(tx, account, isStaging)
    return presentSite(shown, config, now)
  },
})

/** Returns the administrator. Name and address must be given together or not at all. */
function administratorOf(body: NewSite): { username: string; email: string } | undefined {
  const { wp_admin_username: username, wp_admin_email: email } = body
  if (username && !email) throw invalidInput(['wp_admin_email: must accompany wp_admin_username'])
  if (email && !username) throw invalidInput(['wp_admin_username: must accompany wp_admin_email'])
  if (email && !isMailAddress(email)) throw invalidInput(['wp_admin_email: must be a valid email'])
  return username && email ? { username, email } : undefined
}
