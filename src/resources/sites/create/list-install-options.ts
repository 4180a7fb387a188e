import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { installOptions } from '../site.ts'

export const listInstallOptions = endpoint({
  id: 'listInstallOptions',
  method: 'GET',
  path: '/v1/sites/install-options',
  summary: 'List install options',
  access: { account: 'own' },
  response: Type.Array(Type.String(), { examples: [installOptions] }),
  handle: async () => installOptions,
})
