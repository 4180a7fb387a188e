import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { presentZone, ZoneSchema } from './zone.ts'
import { managedZones } from './zone-access.ts'

export const listZones = endpoint({
  id: 'listZones',
  method: 'GET',
  path: '/v1/zones',
  summary: 'List the DNS zones',
  description:
    'Returns the zones of your account in alphabetical order, and zones of other accounts if you have the role `manage_dns` on all sites that they point to.',
  access: { account: 'own' },
  response: Type.Array(ZoneSchema),

  async handle(context) {
    return (await managedZones(context)).map(presentZone)
  },
})
