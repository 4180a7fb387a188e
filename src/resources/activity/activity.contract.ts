import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { daysAgo, forgets } from '../../../test/support/job-worlds.ts'
import { at, onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listAccountActivity', path: at('/v1/account/logs/activity') },
  { endpoint: 'listRecentActivity', path: at('/v1/activity') },
  { endpoint: 'listAccountActions', path: at('/v1/activity/account-actions') },
  { endpoint: 'listSiteActivity', path: onSite('/logs/activity'), roles: [] },
  { endpoint: 'listSiteActions', path: at('/v1/activity/site-actions') },
]

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['listRecentActivity'], code: 'too_many_streams', on: 'strict', headers: { accept: 'text/event-stream' } },
]

const jobs: Record<string, JobSample> = {
  'activity.forget': forgets(
    daysAgo(59),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('activity')
          .values({
            account_id: owner.accountId,
            site_id: null,
            action: 'note.created',
            description: 'd',
            message: 'm',
            source: 'systems',
            actor_email: null,
            ip_address: null,
            user_agent: '',
            created_at: at,
          })
          .execute(),
      ),
    ({ api, owner }) => {
      const entries = api.database.read.selectFrom('activity').select('created_at as at')
      return entries.where('account_id', '=', owner.accountId).where('description', '=', 'd').execute()
    },
  ),
}

export const contract: Contract = { samples, problems, jobs }
