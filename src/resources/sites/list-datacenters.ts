import Type from 'typebox'
import { operation } from '../operation.ts'

export const listDatacenters = operation({
  id: 'listDatacenters',
  method: 'GET',
  path: '/v1/sites/datacenters',
  summary: 'List datacenters',
  access: { account: 'own' },
  response: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
  handle: async ({ config }) => config.datacenters,
})
