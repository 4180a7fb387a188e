import type { Examples } from '../../../test/support/samples.ts'

export const examples: Examples = {
  issueToken: ({ owner }) => ({
    body: { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
  revokeToken: ({ owner }) => ({
    body: { token: 'unknown', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
}
