import type { Contract, JobSample } from '../../../test/support/contract.ts'
import { forgets, inAnHour } from '../../../test/support/job-worlds.ts'
import { type Examples, unique } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'
import { tokenHash } from './authenticate.ts'
import { insertToken } from './token.store.ts'

const examples: Examples = {
  issueToken: ({ owner }) => ({
    body: { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: owner.clientSecret },
  }),
  revokeToken: async (scene) => {
    const { applicationId, clientId: client_id, clientSecret: client_secret } = scene.owner
    const token = `to-revoke-${unique()}`
    const now = Date.now()
    await write(scene, (tx) =>
      insertToken(tx, { hash: tokenHash(token), applicationId, now, expiresAt: now + 3_600_000 }),
    )
    return { body: { token, client_id, client_secret } }
  },
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
