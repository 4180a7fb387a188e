import Type from 'typebox'
import { problems as httpProblems, invalidInput } from '../../platform/http/problem.ts'
import { endpoint } from '../endpoint.ts'
import { credentialHash } from '../sign-in/callers.ts'
import { newestEntry } from './activity.store.ts'
import { EntrySchema, recentActivity } from './entry.ts'

export const listRecentActivity = endpoint({
  id: 'listRecentActivity',
  method: 'GET',
  path: '/v1/activity',
  summary: 'Read, or follow, what happens',
  description:
    'The newest ten entries of the activity log of the account. With `Accept: text/event-stream` a stream of server-sent events, from now on or behind `Last-Event-ID`, that has those of sites that the ' +
    'account collaborates on as well: `activity`, whose data is an ActivityEntry with `account_id` and `site_id`; `missed` where more came than was taken, so that what is shown has to be read anew. ' +
    'An entry can come twice. The stream ends soon after its token. An application may have 50 streams at a time.',
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
  if (!/^\d{1,15}$/.test(lastEventId)) throw invalidInput(['Last-Event-ID: is no entry of an activity log'])
  return Number(lastEventId)
}
