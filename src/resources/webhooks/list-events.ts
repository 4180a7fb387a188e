import Type from 'typebox'
import { httpProblems, invalidInput } from '../../platform/http/problem.ts'
import { nullable, pageOf, Timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { credentialHash } from '../sign-in/public.ts'
import { payloadOf, readEvents, seqOf } from './event.store.ts'
import { newestSeq } from './webhook.store.ts'

const EventSchema = Type.Object(
  {
    id: Type.String({ examples: ['evt_42_4f1d6a0f9be27c35'] }),
    type: Type.String({ examples: ['site_created'] }),
    timestamp: Timestamp,
    account_id: Type.Integer(),
    site_id: nullable(Type.Integer()),
    data: Type.Unsafe<object>({ description: 'See docs/webhooks.md' }),
  },
  { title: 'Event' },
)

const EventId = (description: string) => Type.Optional(Type.String({ description, maxLength: 100 }))

export const listEvents = endpoint({
  id: 'listEvents',
  method: 'GET',
  path: '/v1/events',
  summary: 'List or follow the events of your account',
  description:
    'Returns the webhook events of the last 30 days, newest first. For the next page, send the id of the last event as `before`. With `after`, returns the events after an event, oldest ' +
    'first. A client that continues with `after` misses no event. With `Accept: text/event-stream`, returns a stream of server-sent events until the token ' +
    'expires. The stream starts now, or after `Last-Event-ID` or `after`. Its `id` is the id of the event, `event` the type, and `data` the Event object. An application can have 50 streams open at a time.',
  access: { account: 'own' },
  query: Type.Object({
    after: EventId('Return events after the event with this id'),
    before: EventId('Return events before the event with this id'),
    type: Type.Optional(
      Type.String({ description: 'Return only events of these types, separated by commas', maxLength: 2000 }),
    ),
    site_id: Type.Optional(Type.Integer({ description: 'Return only events of this site' })),
    per_page: Type.Optional(Type.Integer({ description: 'Number of events. Default: 20, maximum: 50' })),
  }),
  response: Type.Array(EventSchema),
  mayStream: true,
  problems: [httpProblems.too_many_streams],

  async handle({ tx, caller, request, origin, response, streams, feed }, { query }) {
    const { accountId } = caller
    const types = query.type
      ?.split(',')
      .map((type) => type.trim())
      .filter(Boolean)
    const filter = { accountId, types: types?.length ? types : undefined, siteId: query.site_id }
    const newest = await newestSeq(tx)
    const seqIn = (name: string, id: string | undefined): number | undefined => {
      if (id === undefined || id === '') return undefined
      const seq = seqOf(id)
      if (seq === undefined || seq > newest) throw invalidInput([`${name}: is not an event of this installation`])
      return seq
    }
    const after = seqIn('after', query.after)
    if (/\btext\/event-stream\b/i.test(String(request.headers.accept ?? ''))) {
      const last = seqIn('Last-Event-ID', String(request.headers['last-event-id'] ?? ''))
      const tokenHash = credentialHash(request.headers, origin)
      const facts = { tokenHash, accountId, ownerId: accountId, siteId: null }
      return streams.open(response, caller.applicationId, facts, (stream) =>
        feed.follow(stream, filter, last ?? after ?? newest),
      )
    }
    const { perPage } = pageOf({ per_page: query.per_page })
    const before = seqIn('before', query.before)
    const asked = after === undefined ? { before: before ?? newest + 1 } : { after }
    return (await readEvents(tx, { ...filter, ...asked, limit: perPage })).map(payloadOf)
  },
})
