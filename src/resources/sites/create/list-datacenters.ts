import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'

export const listDatacenters = endpoint({
  id: 'listDatacenters',
  method: 'GET',
  path: '/v1/sites/datacenters',
  summary: 'List datacenters',
  access: { account: 'own' },
  response: Type.Array(
    Type.Object(
      { code: Type.String({ examples: ['AMS'] }), name: Type.String({ examples: ['Amsterdam'] }) },
      { title: 'Datacenter' },
    ),
  ),
  handle: async ({ config }) => config.datacenters,
})
