import { endpoint } from '../kit/endpoint.ts'
import { common, HOW, transferContent } from './transfer-content.ts'

export const pushEnvironment = endpoint({
  id: 'pushEnvironment',
  ...common,
  method: 'POST',
  path: '/v1/sites/{site_id}/environments/{environment_id}/push',
  summary: 'Push an environment to its live site',
  description: `An addition of Stead. Overwrites parts of the live site with those of the environment. ${HOW}`,
  access: { site: 'restore the site' },
  handle: (context, { params, body }) => transferContent(context, 'push', params.environment_id, body),
})
