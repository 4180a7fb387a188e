import type { Config } from '../../../config.ts'
import { isUniqueViolation, type Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { openOperations } from '../../../platform/operations/open-operations.ts'
import { copiedFlags } from '../../../site-flags.ts'
import { isReservedSiteName } from '../../access/reserved-names.ts'
import { problems as accountProblems, planNamed } from '../../account/public.ts'
import { aboutSite, type Change } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import type { SiteHooks } from '../../kit/site-hooks.ts'
import { actions } from '../actions.ts'
import { putRoute } from '../addresses/route.store.ts'
import { countAgainstPlan } from '../create/count-against-plan.ts'
import { creationFacts } from '../create/creation.store.ts'
import { choosePlace, type HostRoom } from '../create/placement.ts'
import { problems } from '../problems.ts'
import { canTake, databaseOfSite, type HostRuntimes, runtimesOfHosts } from '../runtime.store.ts'
import { insertSite, type SiteDraft, usualEnvironment } from '../site.store.ts'
import { type EnvironmentType, type ListedSite, requireInstalled, type Site, stagingHostName } from '../site.ts'
import { cloneSiteJob } from './clone-site.job.ts'

/** Errors of a request for a clone. */
export const cloneProblems = [
  problems.site_not_live,
  problems.name_taken,
  problems.name_reserved,
  problems.site_limit_reached,
  problems.plan_lacks_multisite,
  accountProblems.account_leaving,
  accountProblems.unknown_datacenter,
  problems.clone_elsewhere,
  problems.no_host,
]

/** The context of a request for a clone. */
interface Cloning extends Change {
  readonly tx: Tx
  readonly config: Config
  readonly siteHooks: readonly SiteHooks<HostServices>[]
  readonly now: number
}

/** The wishes of a caller. */
interface WantedClone {
  readonly name: string
  readonly staging?: boolean
  readonly datacenter_code?: string
}

/**
 * Starts the clone of a site. The caller holds it.
 * @throws Problem those of `cloneSite`
 */
export async function requestClone(context: Cloning, source: Site, wanted: WantedClone): Promise<ListedSite> {
  const { tx, config, siteHooks, now } = context
  requireInstalled(source)
  const name = wanted.name.toLowerCase()
  const isStaging = wanted.staging ?? false
  const { account, hosts } = await creationFacts(tx, source.accountId)
  const plan = planNamed(account.plan)
  if (isReservedSiteName(name, config)) throw new Problem(problems.name_reserved, { name })
  if (source.hasMultisite && !plan.multisite) throw new Problem(problems.plan_lacks_multisite, { plan: plan.name })
  const place = await placeOfClone(tx, source, wanted.datacenter_code, { config, hosts })
  // The clone runs after what was requested for the source before.
  const after = await openOperations(tx, source.id)
  const backups = place.hostId === source.hostId ? undefined : await copiesOf(tx, source, after, context)
  const site = await insertSite(tx, { ...draftOf(source, isStaging), ...place, name }, now).catch((error) => {
    throw isUniqueViolation(error) ? new Problem(problems.name_taken, { name }) : error
  })
  await putRoute(tx, site.id, stagingHostName(name, config), now)
  const about = aboutSite(site)
  await context.record({ action: actions['site.cloned'], message: `Cloned ${source.name} to ${name}`, about })
  let shown = site
  for (const { ordered } of siteHooks) shown = { ...shown, ...(await ordered?.(tx, site, context)) }
  const order = { siteId: site.id, sourceId: source.id, ...(backups && { backups }) }
  await context.start(cloneSiteJob, order, { about, after })
  await countAgainstPlan(tx, account, isStaging)
  return shown
}

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

interface Place {
  readonly datacenterCode: string
  readonly hostId: number
}

/**
 * Prefers the host of the source, where a clone is a copy on one disk. Another one needs a backup storage that both use.
 * @throws Problem `unknown_datacenter`, `clone_elsewhere`, `no_host`
 */
async function placeOfClone(
  tx: Tx,
  source: Site,
  asked: string | undefined,
  { config, hosts }: { readonly config: Config; readonly hosts: readonly HostRoom[] },
): Promise<Place> {
  const { datacenters } = config
  const usual = source.datacenterCode
  const own = hosts.filter(({ id }) => id === source.hostId)
  const isKnown = asked === undefined || datacenters.some(({ code }) => code === asked)
  const serves = ({ datacenters: served }: HostRoom) => served.length === 0 || served.includes(asked ?? usual)
  if (!isKnown || own.some((host) => serves(host) && host.freeSites > 0))
    return choosePlace(asked, usual, datacenters, own)
  const others = haveStorageInCommon(config) ? await othersThatTake(tx, source, hosts) : []
  if (asked !== undefined && own.length > 0 && ![...own, ...others].some(serves))
    throw new Problem(problems.clone_elsewhere, { code: asked, codes: codesOf([...own, ...others], config).join(', ') })
  return choosePlace(asked, usual, datacenters, others)
}

async function othersThatTake(tx: Tx, source: Site, hosts: readonly HostRoom[]): Promise<HostRoom[]> {
  const others = hosts.filter(({ id }) => id !== source.hostId)
  if (others.length === 0) return []
  const kind = await databaseOfSite(tx, source.id)
  const runtimes = await runtimesOfHosts(
    tx,
    others.map(({ id }) => id),
  )
  return others.filter(({ id }) => canTake(runtimes.get(id) as HostRuntimes, source.phpVersion, kind))
}

/** Returns the datacenters that these hosts serve, in the order of the settings. */
function codesOf(hosts: readonly HostRoom[], { datacenters }: Config): string[] {
  const isServed = (code: string) =>
    hosts.some((host) => host.datacenters.length === 0 || host.datacenters.includes(code))
  return datacenters.map(({ code }) => code).filter(isServed)
}

/**
 * Orders backups of the source for the host of the clone.
 * @param after gets the operations that take them
 */
async function copiesOf(tx: Tx, source: Site, after: number[], { siteHooks, now }: Cloning): Promise<number[]> {
  const backups: number[] = []
  for (const { copied } of siteHooks) {
    const ordered = await copied?.(tx, source, { now })
    backups.push(...(ordered?.backups ?? []))
    after.push(...(ordered?.operations ?? []))
  }
  return backups
}
