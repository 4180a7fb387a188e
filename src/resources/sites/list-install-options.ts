import Type from 'typebox'
import { operation } from '../operation.ts'
import { installOptions } from './site.ts'

export const listInstallOptions = operation({
  id: 'listInstallOptions',
  method: 'GET',
  path: '/v1/sites/install-options',
  summary: 'List install options',
  access: { account: 'own' },
  response: Type.Array(Type.String()),
  handle: async () => installOptions,
})
