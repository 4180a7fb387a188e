import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { ZoneId } from '../records/record.ts'
import { recordsOfZone } from '../zone.store.ts'
import { managedZone } from '../zone-access.ts'
import { writeZoneFile } from './zone-file.ts'

export const exportZone = endpoint({
  id: 'exportZone',
  method: 'GET',
  path: '/v1/zones/{zone_id}/file',
  summary: 'Read a DNS zone as a zone file',
  description:
    'An addition of Stead. Returns the records as a zone file (RFC 1035 §5), which other name servers and `PUT` of the same path can read. For the owner of the ' +
    'zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  response: Type.String({ examples: ['$ORIGIN example.com.\n$TTL 3600\nwww\t3600\tIN\tA\t192.0.2.1\n'] }),
  etag: true,
  problems: [authenticationProblems.forbidden],

  async handle(context, { params }) {
    const zone = await managedZone(context, params.zone_id)
    return writeZoneFile(zone.name, await recordsOfZone(context.tx, zone.id))
  },
})
