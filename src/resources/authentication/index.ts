import { resource } from '../kit/resource.ts'
import { forgetTokens, forgetTokensHourly } from './forget-tokens.job.ts'
import { problems } from './problems.ts'

export const authentication = resource({
  tag: { name: 'Authentication', description: 'Access tokens (OAuth 2.0 client credentials)' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [forgetTokens] },
  schedules: [forgetTokensHourly],
  problems,
})
