import Type from 'typebox'
import { touchZone } from '../../dns/zones/zone-changes.store.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { problems as dnsProblems, ZoneId, zoneToChange } from '../dns/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { DnssecSchema, presentDnssec } from './dnssec.ts'
import { addKey, setDnssec, signingOf } from './key.store.ts'
import { lookAtKeys } from './look-at-keys.job.ts'
import { OFTEN_MS } from './next-state.ts'

export const changeDnssec = endpoint({
  id: 'changeDnssec',
  method: 'PUT',
  path: '/v1/zones/{zone_id}/dnssec',
  summary: 'Turn DNSSEC of a zone on or off',
  description:
    'An addition of Stead. If you turn it on, Stead signs the zone immediately. Then give its DS record to the registrar of the domain. Before you turn it off, have the registrar remove the DS record. ' +
    'The zone stays signed while the parent zone or caches of resolvers still contain the DS record. Stead checks the parent zone every hour. ' +
    'To check it immediately, send the current value again. Requires the owner of the zone, or a collaborator with the role `manage_dns` on ' +
    'all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: Type.Object({ enabled: Type.Boolean({ examples: [true] }) }, { title: 'DnssecChange' }),
  response: DnssecSchema,
  starts: true,
  problems: [authenticationProblems.forbidden, dnsProblems.reserved_name],

  async handle(context, { params, body }) {
    const { tx, now, sealer } = context
    const zone = await zoneToChange(context, params.zone_id)
    const { dnssec, keys } = await signingOf(tx, zone.id)
    const wanted = body.enabled ? 'on' : dnssec === 'off' ? 'off' : 'leaving'
    if (wanted !== dnssec) {
      if (keys.length === 0) await addKey(tx, zone.id, { state: 'active', now, sealer })
      await setDnssec(tx, zone.id, wanted, now + OFTEN_MS)
      await touchZone(tx, zone.id, now)
      const message = body.enabled
        ? `Switched DNSSEC of ${zone.name} on`
        : `Requested to turn off DNSSEC of ${zone.name}`
      await context.record({ action: actions.dnssec, message })
    }
    if (wanted !== 'off') await context.start(lookAtKeys, { zoneId: zone.id })
    return presentDnssec(zone.name, await signingOf(tx, zone.id))
  },
})
