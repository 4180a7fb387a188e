import Type from 'typebox'
import { touchZone } from '../../dns/zones/zone-changes.store.ts'
import { Problem } from '../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { problems as dnsProblems, ZoneId, zoneToChange } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { DnssecSchema, presentDnssec } from './dnssec.ts'
import { addKey, setDue, signingOf } from './key.store.ts'
import { lookAtKeys } from './look-at-keys.job.ts'
import { OFTEN_MS } from './next-state.ts'
import { problems } from './problems.ts'

export const rollKey = endpoint({
  id: 'rollDnssecKey',
  method: 'POST',
  path: '/v1/zones/{zone_id}/dnssec/keys',
  summary: 'Change the key of a signed DNS zone',
  description:
    'An addition of Stead. Publishes a new key next to the current key. When the parent zone contains its DS record, the new key signs. Stead removes the old key when it has expired in all resolvers. ' +
    '`GET /v1/zones/{zone_id}/dnssec` shows the progress. Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  response: DnssecSchema,
  status: 201,
  starts: true,
  problems: [
    authenticationProblems.forbidden,
    dnsProblems.reserved_name,
    problems.dnssec_off,
    problems.key_roll_under_way,
  ],

  async handle(context, { params }) {
    const { tx, now, sealer } = context
    const zone = await zoneToChange(context, params.zone_id)
    const { dnssec, keys } = await signingOf(tx, zone.id)
    if (dnssec !== 'on') throw new Problem(problems.dnssec_off, {})
    if (keys.length > 1) throw new Problem(problems.key_roll_under_way, {})
    await addKey(tx, zone.id, { state: 'published', now, sealer })
    await setDue(tx, zone.id, now + OFTEN_MS)
    await touchZone(tx, zone.id, now)
    await context.record({ action: actions.dnssec, message: `Requested a new key for ${zone.name}` })
    await context.start(lookAtKeys, { zoneId: zone.id })
    return presentDnssec(zone.name, await signingOf(tx, zone.id))
  },
})
