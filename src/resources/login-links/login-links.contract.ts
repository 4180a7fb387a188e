import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { setFacts } from '../account/account.store.ts'

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'createOneTimeLogin', path: onSite('/one_time_login'), roles: ['wp_access'], body: ({ owner }) => ({ email: owner.email, user_agent: 'Mozilla/5.0' }) },
]

const examples: Examples = {
  async createOneTimeLogin({ api, siteId }) {
    await api.collaborate(await api.person('colleague@example.com'), siteId, ['wp_access'])
    return { body: { email: 'colleague@example.com', user_agent: 'Mozilla/5.0' } }
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createOneTimeLogin'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['createOneTimeLogin'], code: 'one_time_login_stranger', example: () => ({ body: { email: 'nobody@example.com', user_agent: 'x' } }) },
  { of: ['createOneTimeLogin'], code: 'one_time_login_off', prepare: ({ api, owner }) => api.database.transaction((tx) => setFacts(tx, owner.accountId, { hasOneTimeLogin: false })) },
]

export const contract: Contract = { samples, examples, problems }
