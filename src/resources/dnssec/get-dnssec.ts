import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { managedZone, ZoneId } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { DnssecSchema, presentDnssec } from './dnssec.ts'
import { signingOf } from './key.store.ts'

export const getDnssec = endpoint({
  id: 'getDnssec',
  method: 'GET',
  path: '/v1/zones/{zone_id}/dnssec',
  summary: 'Get the DNSSEC state of a zone',
  description:
    'An addition of Stead. Returns whether the zone is signed, the DS record for the registrar, and what to do next. Requires the owner of the zone, or a collaborator ' +
    'with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  response: DnssecSchema,
  etag: true,
  problems: [authenticationProblems.forbidden],

  async handle(context, { params }) {
    const zone = await managedZone(context, params.zone_id)
    return presentDnssec(zone.name, await signingOf(context.tx, zone.id))
  },
})
