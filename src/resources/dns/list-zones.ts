import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { presentZone, ZoneSchema } from './zone.ts'
import { managedZones } from './zone-access.ts'

export const listZones = endpoint({
  id: 'listZones',
  method: 'GET',
  path: '/v1/zones',
  summary: 'List the DNS zones',
  description:
    'By name: the zones of your account, and those that lead to sites of others on all of which you have the role `manage_dns`.',
  access: { account: 'own' },
  response: Type.Array(ZoneSchema),

  async handle(context) {
    return (await managedZones(context)).map(presentZone)
  },
})
