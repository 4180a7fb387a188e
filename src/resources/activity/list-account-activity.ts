import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { ActivityQuery, activityPage, EntrySchema } from './activity-entry.ts'

export const listAccountActivity = endpoint({
  id: 'listAccountActivity',
  method: 'POST',
  path: '/v1/account/logs/activity',
  summary: 'Get the activity log of the account',
  description: 'Returns changes to the account and its sites, newest first. Stead keeps entries for 60 days.',
  access: { account: 'own' },
  reads: true,
  body: ActivityQuery,
  response: Type.Array(EntrySchema),
  paged: true,

  async handle(context, { body }) {
    return activityPage(context, { accountId: context.caller.accountId }, body)
  },
})
