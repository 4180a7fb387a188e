import Type from 'typebox'
import { phpVersions } from '../../../hosting/php/runtime.ts'
import { endpoint } from '../../kit/endpoint.ts'

export const listPhpVersions = endpoint({
  id: 'listPhpVersions',
  method: 'GET',
  path: '/v1/sites/php-versions',
  summary: 'List PHP versions',
  access: { account: 'own' },
  response: Type.Array(Type.String(), { examples: [phpVersions] }),
  handle: async () => phpVersions,
})
