import Type from 'typebox'
import { problems as authenticationProblems } from '../authentication/problems.ts'
import { problems as dnsProblems } from '../dns/problems.ts'
import { touchZone, ZoneId, zoneToChange } from '../dns/zone.ts'
import { endpoint } from '../endpoint.ts'
import { actions } from './actions.ts'
import { DnssecSchema, presentDnssec } from './dnssec.ts'
import { addKey, setDnssec, signingOf } from './key.store.ts'
import { lookAtKeys } from './look-at-keys.job.ts'
import { OFTEN_MS } from './settle.ts'

export const changeDnssec = endpoint({
  id: 'changeDnssec',
  method: 'PUT',
  path: '/v1/zones/{zone_id}/dnssec',
  summary: 'Switch DNSSEC of a zone on or off',
  description:
    'An addition of Stead. On: the zone is signed at once; give its DS record to the registrar of the domain. Off: it stays signed as long as the zone above names its key ' +
    'or resolvers may remember that it did, for they would not believe it otherwise; have the registrar remove the DS record first. With what is set already the operation looks ' +
    'at once which keys the zone above names, which is else done every hour while something is waited for. For the owner of the zone, or a collaborator with the role `manage_dns` on ' +
    'all sites that the zone leads to.',
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
      const message = body.enabled ? `Switched DNSSEC of ${zone.name} on` : `Ordered DNSSEC of ${zone.name} to end`
      await context.record({ action: actions.dnssec, message })
    }
    if (wanted !== 'off') await context.start(lookAtKeys, { zoneId: zone.id })
    return presentDnssec(zone.name, await signingOf(tx, zone.id))
  },
})
