import type { Contract, JobSample } from '../../../test/support/contract.ts'
import { forgets, inAnHour } from '../../../test/support/job-worlds.ts'
import type { Examples } from '../../../test/support/samples.ts'

const examples: Examples = {
  issueToken: ({ owner }) => ({
    body: { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
  revokeToken: ({ owner }) => ({
    body: { token: 'unknown', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
}

const unrecorded: Contract['unrecorded'] = {
  issueToken: 'a token is no change of the account; logs of the control have it',
  revokeToken: 'as issueToken',
}

const jobs: Record<string, JobSample> = {
  'tokens.forget': forgets(
    inAnHour,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('tokens')
          .values({
            hash: `of-${owner.applicationId}-${at}`,
            application_id: owner.applicationId,
            created_at: 1,
            expires_at: at,
            revoked_at: null,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const tokens = api.database.read.selectFrom('tokens').select('expires_at as at')
      return tokens.where('hash', 'like', `of-${owner.applicationId}-%`).execute()
    },
  ),
}

export const contract: Contract = { examples, unrecorded, jobs }
