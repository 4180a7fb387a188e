import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { ZoneId } from './records/record.ts'
import { recordsOfZone } from './zone.store.ts'
import { presentWhole, ZoneWithRecords } from './zone.ts'
import { managedZone } from './zone-access.ts'

export const getZone = endpoint({
  id: 'getZone',
  method: 'GET',
  path: '/v1/zones/{zone_id}/records',
  summary: 'Get a DNS zone with its records',
  description:
    'Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  response: ZoneWithRecords,
  etag: true,
  problems: [authenticationProblems.forbidden],

  async handle(context, { params }) {
    const zone = await managedZone(context, params.zone_id)
    return presentWhole(zone, await recordsOfZone(context.tx, zone.id))
  },
})
