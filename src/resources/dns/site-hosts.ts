import type { Config } from '../../config.ts'
import { canonicalAddress } from '../../dns/wire/ip-address.ts'
import type { Tx } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { dropCertificate, wantCertificate } from '../certificates/public.ts'
import { aboutSite, type Change, type Recording } from '../kit/change.ts'
import {
  configureSite,
  deleteDomainRoute,
  edgeAddresses,
  findSite,
  hostNamesOf,
  putDomainRoute,
  type Site,
  setPrimaryDomain,
  siteOfHostName,
  stagingHostName,
} from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { USUAL_TTL } from './neighbours.ts'
import { isNeverPublic } from './never-public.ts'
import { problems } from './problems.ts'
import type { DnsRecord, RecordDraft } from './records/record.ts'
import { type Asking, requireHostName } from './reserved.ts'
import { deleteRecords, dropIfEmpty, insertRecords, recordsOfZone } from './zone.store.ts'
import type { Zone } from './zone.ts'
import { hostNameIn } from './zone-name.ts'

/*
 * Host names that lead to sites. A site has one exactly while an A record of that name leads to it, so records and
 * routes change together.
 */

export const MOST_DOMAINS = 200

/** Name in a zone that a site should get. Site and zone are held. */
export interface HostOfSite {
  readonly site: Site
  readonly zone: Zone
  readonly name: string
}

/**
 * Checks that a site may have a name in a zone of its account.
 * @throws Problem with the reason if it may not
 */
export async function checkHost(context: Asking, { site, zone, name }: HostOfSite): Promise<void> {
  const { tx } = context
  const hostName = hostNameIn(zone.name, name)
  await checkHostName(context, site, hostName)
  if (zone.accountId !== site.accountId) throw new Problem(problems.zone_of_another_account, { zone: zone.name })
  const taken = await siteOfHostName(tx, hostName)
  if (taken && taken.siteId !== site.id) throw new Problem(problems.host_name_taken, { hostName })
  if (!taken && (await hostNamesOf(tx, site.id)).length >= MOST_DOMAINS)
    throw new Problem(problems.domain_limit_reached, { limit: MOST_DOMAINS })
}

/**
 * Checks that a site may have a host name, also one in a zone of another account.
 * @throws Problem with the reason if it may not
 */
export async function checkHostName(
  context: Asking,
  site: Pick<Site, 'accountId' | 'isStaging'>,
  hostName: string,
): Promise<void> {
  await requireHostName(context, hostName, site.accountId)
  if (isNeverPublic(hostName))
    throw invalidInput([`name: ${hostName} is not reachable from the internet. Use a public domain.`])
  if (site.isStaging) throw new Problem(problems.staging_site_domains, {})
  const { stagingDomain } = context.config
  if (hostName === stagingDomain || hostName.endsWith(`.${stagingDomain}`))
    throw new Problem(problems.staging_domain_name, { hostName, stagingDomain })
}

/**
 * Removes records of a deleted site under a name that a site should get.
 * @returns the types of conflicting records, which lead elsewhere
 */
export async function othersAt(
  tx: Tx,
  { site, zone, name }: HostOfSite,
  now: number,
): Promise<Extract<RecordDraft['type'], string>[]> {
  const there = (await recordsOfZone(tx, zone.id)).filter((record) => record.name === name)
  const left: DnsRecord[] = []
  const others: RecordDraft['type'][] = []
  for (const record of there) {
    const { siteId, type } = record
    if (siteId !== null && siteId !== site.id && !(await findSite(tx, siteId))) left.push(record)
    else if (type === 'CNAME' || ((type === 'A' || type === 'AAAA') && siteId !== site.id)) others.push(type)
  }
  await deleteRecords(
    tx,
    zone.id,
    left.map(({ id }) => id),
    now,
  )
  return [...new Set(others)]
}

interface Adding {
  readonly tx: Tx
  readonly config: Config
  readonly now: number
  readonly record: Recording['record']
}

/** Gives a site a host name: A records for the edge, and the route. */
export async function addSiteHost(context: Adding, host: HostOfSite): Promise<void> {
  const { tx, config, now } = context
  const { site, zone, name } = host
  const blank = { name, priority: null, weight: null, port: null, ttl: USUAL_TTL, siteId: site.id }
  const drafts = edgeAddresses(config).map((value): RecordDraft => {
    const type = value.includes(':') ? 'AAAA' : 'A'
    return { ...blank, type, value: canonicalAddress(type, value) }
  })
  await insertRecords(tx, zone.id, drafts, now)
  await followHost(context, host)
}

/** Adds the route and the certificate of a name that has its records. With its first record it becomes a domain. */
export async function followHost({ tx, config, now, record }: Adding, { site, zone, name }: HostOfSite): Promise<void> {
  const hostName = hostNameIn(zone.name, name)
  const isThere = (await siteOfHostName(tx, hostName)) !== undefined
  await putDomainRoute(tx, site.id, hostName, now)
  if (config.edgeTlsListen !== 'off') await wantCertificate(tx, { hostName, siteId: site.id, now })
  if (isThere) return
  await record({
    action: actions['domain.added'],
    message: `Added the domain ${hostName}`,
    event: { type: events.domain_added, data: { domain: hostName } },
    about: aboutSite(site),
  })
}

/** Removes a host name from a site: its records, its route, and its place as the primary domain. */
export async function removeSiteHost(
  { tx, config, now, record, start }: Adding & Pick<Change, 'start'>,
  { site, zone, name }: HostOfSite,
): Promise<void> {
  const hostName = hostNameIn(zone.name, name)
  const there = await recordsOfZone(tx, zone.id)
  const own = there.filter((record) => record.name === name && record.siteId === site.id)
  await deleteRecords(
    tx,
    zone.id,
    own.map(({ id }) => id),
    now,
  )
  await deleteDomainRoute(tx, site.id, hostName)
  await dropCertificate(tx, hostName)
  const isPrimary = site.primaryDomain === hostName
  await record({
    action: actions['domain.removed'],
    message: isPrimary
      ? `Removed the primary domain ${hostName}: the site is now at ${stagingHostName(site.name, config)}`
      : `Removed the domain ${hostName}`,
    event: { type: events.domain_removed, data: { domain: hostName } },
    about: aboutSite(site),
  })
  if (!isPrimary) return
  await setPrimaryDomain(tx, site, null, now)
  await start(configureSite, { siteId: site.id }, { about: aboutSite(site) })
}

/** Frees the names of a purged site, and deletes zones without other records. */
export async function forgetHosts(tx: Tx, siteId: number): Promise<void> {
  const now = Date.now()
  const rows = await tx.selectFrom('dns_records').select(['id', 'zone_id']).where('site_id', '=', siteId).execute()
  for (const [zoneId, records] of Map.groupBy(rows, (row) => row.zone_id)) {
    await deleteRecords(
      tx,
      zoneId,
      records.map(({ id }) => id),
      now,
    )
    await dropIfEmpty(tx, zoneId, now)
  }
}
