import Type from 'typebox'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { requireAccess } from '../../access/access.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import type { Recording } from '../../kit/change.ts'
import type { Context } from '../../kit/context.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { holdVisibleSite, type Site } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { addition } from '../neighbours.ts'
import { problems } from '../problems.ts'
import { zoneToChange } from '../reserved.ts'
import { addSiteHost, checkHost, followHost, othersAt } from '../site-hosts.ts'
import { changeValue, findZone, insertRecords, recordsOfZone } from '../zone.store.ts'
import { presentWhole, type Zone, ZoneWithRecords } from '../zone.ts'
import { hostNameIn } from '../zone-name.ts'
import { NewRecord, type ReadRecord, readRecord } from './read-record.ts'
import { asWritten, ZoneId } from './record.ts'

export const createRecord = endpoint({
  id: 'createDnsRecord',
  method: 'POST',
  path: '/v1/zones/{zone_id}/records',
  summary: 'Add a DNS record',
  description:
    'Returns the zone with all records. An A record with `site_id` adds its name to the site as a domain. Without `value`, it gets the addresses ' +
    'of the edge. Stead merges a second SPF record into the first one of the same name. Requires the owner of the zone, or a collaborator with the role `manage_dns` on ' +
    'all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: NewRecord,
  response: ZoneWithRecords,
  problems: [
    authenticationProblems.forbidden,
    problems.record_exists,
    problems.record_conflict,
    problems.record_limit_reached,
    problems.host_name_taken,
    problems.reserved_name,
    problems.staging_domain_name,
    problems.staging_site_domains,
    problems.zone_of_another_account,
    problems.domain_limit_reached,
  ],

  async handle(context, { params, body }) {
    const { tx, now } = context
    // Sites are held before zones, everywhere.
    const site = body.site_id === undefined ? undefined : await siteOf(context, body.site_id)
    const zone = await zoneToChange(context, params.zone_id)
    const read = readRecord(body, zone.name)
    if ('faults' in read) throw invalidInput(read.faults)
    const record = { ...read.record, written: asWritten(read.record, body.value) }
    if (body.site_id !== undefined && !site) throw invalidInput(['site_id: is not a site that you can see'])
    if (site) await leadTo(context, { site, zone, record, hasValue: read.hasValue })
    else {
      const added = addition(record, await recordsOfZone(tx, zone.id))
      if ('add' in added) await insertRecords(tx, zone.id, [added.add], now)
      else await changeValue(tx, added.change, added.value, now)
    }
    const { type, name } = record
    const shown = hostNameIn(zone.name, name)
    const target = site ? `, which points to site ${site.name}` : ''
    await context.record({ action: actions.dns, message: `Added the record ${type} ${shown}${target}` })
    return presentWhole((await findZone(tx, zone.id)) as Zone, await recordsOfZone(tx, zone.id))
  },
})

async function siteOf({ tx, caller }: Context & { tx: Context['tx'] }, id: number): Promise<Site | undefined> {
  const site = await holdVisibleSite(tx, caller.accountId, id)
  if (site) requireAccess('manage DNS', caller, site)
  return site
}

async function leadTo(
  context: Context & Recording,
  { site, zone, record, hasValue }: { site: Site; zone: Zone; record: ReadRecord; hasValue: boolean },
): Promise<void> {
  const { tx, now } = context
  const host = { site, zone, name: record.name }
  await checkHost(context, host)
  const others = await othersAt(tx, host, now)
  if (others.length > 0) {
    const reason = `${hostNameIn(zone.name, record.name)} has ${others.join(' and ')} records that point elsewhere`
    throw new Problem(problems.record_conflict, { reason })
  }
  if (!hasValue && !(await hasHost(tx, host))) return addSiteHost(context, host)
  if (!hasValue) throw new Problem(problems.record_exists, { type: record.type })
  const added = addition(record, await recordsOfZone(tx, zone.id))
  if ('add' in added) await insertRecords(tx, zone.id, [added.add], now)
  await followHost(context, host)
}

const hasHost = async (tx: Context['tx'], { site, zone, name }: { site: Site; zone: Zone; name: string }) =>
  (await recordsOfZone(tx, zone.id)).some((record) => record.name === name && record.siteId === site.id)
