import { endpoint } from '../kit/endpoint.ts'
import { common, HOW, transferContent } from './transfer-content.ts'

export const pullEnvironment = endpoint({
  id: 'pullEnvironment',
  ...common,
  method: 'POST',
  path: '/v1/sites/{site_id}/environments/{environment_id}/pull',
  summary: 'Pull the live site to an environment',
  description: `An addition of Stead. Overwrites parts of the environment with those of the live site. ${HOW}`,
  access: { site: 'use backups' },
  handle: (context, { params, body }) => transferContent(context, 'pull', params.environment_id, body),
})
