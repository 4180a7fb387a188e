import Type from 'typebox'
import { httpProblems, invalidInput } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { credentialHash } from '../sign-in/public.ts'
import { newestEntry } from './activity.store.ts'
import { EntrySchema, recentActivity } from './activity-entry.ts'

export const listRecentActivity = endpoint({
  id: 'listRecentActivity',
  method: 'GET',
  path: '/v1/activity',
  summary: 'Get or follow recent activity',
  description:
    "Returns the ten newest entries of the account's activity log. With `Accept: text/event-stream`, returns a stream of server-sent events that starts now, or after `Last-Event-ID`. " +
    'The stream also contains entries of sites that the account collaborates on. The data of an `activity` event is an ActivityEntry with `account_id` and `site_id`. A `missed` event means that entries were skipped, so reload the list. ' +
    'An entry can arrive twice. The stream ends shortly after its token expires. An application can have 50 streams open at a time.',
  access: { account: 'own' },
  response: Type.Array(EntrySchema),
  mayStream: true,
  problems: [httpProblems.too_many_streams],

  async handle({ tx, caller, request, origin, response, streams, activityFeed }) {
    const { accountId } = caller
    if (!/\btext\/event-stream\b/i.test(String(request.headers.accept ?? ''))) return recentActivity(tx, accountId)
    const facts = { tokenHash: credentialHash(request.headers, origin), accountId, ownerId: accountId, siteId: null }
    const after = seenBy(String(request.headers['last-event-id'] ?? '')) ?? (await newestEntry(tx))
    return streams.open(response, caller.applicationId, facts, (stream) =>
      activityFeed.follow(stream, accountId, after),
    )
  },
})

function seenBy(lastEventId: string): number | undefined {
  if (lastEventId === '') return undefined
  if (!/^\d{1,15}$/.test(lastEventId))
    throw invalidInput(['Last-Event-ID: must be the id of an entry in an activity log'])
  return Number(lastEventId)
}
