import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'createOneTimeLogin', path: onSite('/one_time_login'), roles: ['wp_access'], body: ({ owner }) => ({ email: owner.email, user_agent: 'Mozilla/5.0' }) },
]

export const examples: Examples = {
  async createOneTimeLogin({ api, siteId }) {
    await api.collaborate(await api.person('colleague@example.com'), siteId, ['wp_access'])
    return { body: { email: 'colleague@example.com', user_agent: 'Mozilla/5.0' } }
  },
}
