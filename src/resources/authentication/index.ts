import { resource } from '../kit/resource.ts'
import { forgetTokens, forgetTokensHourly } from './forget-tokens.job.ts'
import { problems } from './problems.ts'
import { deleteTokensOfAccount } from './token.store.ts'

export const authentication = resource({
  tag: { name: 'Authentication', description: 'Access tokens (OAuth 2.0 client credentials)' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { forgotten: (tx, { accountId }) => deleteTokensOfAccount(tx, accountId) },
  jobs: { control: [forgetTokens] },
  schedules: [forgetTokensHourly],
  problems,
})
