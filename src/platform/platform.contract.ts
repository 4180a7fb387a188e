import { expect } from 'vitest'
import type { Contract, JobSample } from '../../test/support/contract.ts'
import { daysAgo, forgets } from '../../test/support/job-worlds.ts'

const jobs: Record<string, JobSample> = {
  'mail.send': {
    prepare: async ({ mate }) => ({
      input: { to: mate.email, subject: 's', text: 't', html: 'h', writtenAt: 1, key: 'k' },
      options: { siteId: null },
    }),
    async done({ mails }) {
      // At most, it is sent again with the same Message-ID.
      expect(mails.size).toBe(1)
    },
  },

  'idempotency_keys.forget': forgets(
    Date.now,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('idempotency_keys')
          .values({
            application_id: owner.applicationId,
            key: `of-${at}`,
            fingerprint: 'f',
            response_sealed: null,
            status: 200,
            locked_until: at,
            created_at: at,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const keys = api.database.read.selectFrom('idempotency_keys').select('created_at as at')
      return keys.where('application_id', '=', owner.applicationId).execute()
    },
  ),

  'operations.forget': forgets(
    daysAgo(29),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('operations')
          .values({
            ...({ type: 'test.old', runner: 'control', state: 'failed', input: '{}', cancel_requested: 0 } as const),
            ...{
              account_id: owner.accountId,
              attempts: 1,
              progress: 0,
              run_at: at,
              created_at: at,
              finished_at: at,
            },
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const ended = api.database.read.selectFrom('operations').select('created_at as at')
      return ended.where('account_id', '=', owner.accountId).where('type', '=', 'test.old').execute()
    },
  ),

  'mail_counts.forget': forgets(
    Date.now,
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('mail_counts')
          .values({ account_id: owner.accountId, address: 'a@example.com', subject_hash: 'h', created_at: at })
          .execute(),
      ),
    ({ api, owner }) => {
      const counts = api.database.read.selectFrom('mail_counts').select('created_at as at')
      return counts.where('account_id', '=', owner.accountId).execute()
    },
  ),
}

export const contract: Contract = { jobs }
