import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { holdSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { zoneToChange } from '../reserved.ts'
import { removeSiteHost } from '../site-hosts.ts'
import { deleteRecords, findZone, forgetEmptyZones, recordOf, recordsOfZone } from '../zone.store.ts'
import { presentWhole, type Zone, ZoneWithRecords } from '../zone.ts'
import { hostNameIn } from '../zone-name.ts'
import { RecordId, ZoneId } from './record.ts'

export const deleteRecord = endpoint({
  id: 'deleteDnsRecord',
  method: 'DELETE',
  path: '/v1/zones/{zone_id}/records/{id}',
  summary: 'Delete a DNS record',
  description:
    'Returns the zone with the remaining records. If you delete the last record of a domain, the site loses the domain. If that was the primary domain, the site returns ' +
    'to its address under the staging domain. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId, id: RecordId }),
  response: ZoneWithRecords,
  starts: true,
  problems: [authenticationProblems.forbidden, problems.reserved_name],

  async handle(context, { params }) {
    const { tx, now } = context
    const { zone_id: zoneId, id } = params
    // Sites are held before zones, everywhere. The site of a record never changes.
    const siteId = (await recordOf(tx, zoneId, id))?.siteId ?? null
    const site = siteId === null ? undefined : await holdSite(tx, siteId)
    const zone = await zoneToChange(context, zoneId, 'removal')
    const record = await recordOf(tx, zoneId, id)
    if (!record) throw notFound()
    const { name, type } = record
    await deleteRecords(tx, zoneId, [id], now)
    await forgetEmptyZones(tx, zone.accountId, now)
    const left = await recordsOfZone(tx, zoneId)
    if (site && !left.some((each) => each.name === name && each.siteId === site.id))
      await removeSiteHost(context, { site, zone, name })
    await context.record({ action: actions.dns, message: `Deleted the record ${type} ${hostNameIn(zone.name, name)}` })
    return presentWhole((await findZone(tx, zoneId)) as Zone, left)
  },
})
