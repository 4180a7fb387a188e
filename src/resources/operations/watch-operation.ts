import Type from 'typebox'
import { exampleOf } from '../../platform/http/openapi/openapi-examples.ts'
import { httpProblems, notFound } from '../../platform/http/problem.ts'
import { findOperation, type OperationView } from '../../platform/operations/read.ts'
import { endpoint } from '../kit/endpoint.ts'
import { credentialHash } from '../sign-in/public.ts'
import { OperationId, OperationSchema, presentOperation, visibleTo } from './operation.ts'

const eventOf = (data: unknown): string => `event: operation\ndata: ${JSON.stringify(data)}\n\n`

export const watchOperation = endpoint({
  id: 'watchOperation',
  method: 'GET',
  path: '/v1/operations/{id}/events',
  summary: 'Follow an operation',
  description:
    'Returns a stream of server-sent events. The data of an `operation` event is the Operation object. Stead sends it immediately and after each change, and skips outdated events for slow readers. The stream ends with the operation, when its token expires, or when you lose access to the operation. An application can have 50 streams open at a time.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  style: 'stream',
  response: Type.String({
    description: 'text/event-stream',
    examples: [eventOf(exampleOf(OperationSchema as object, {}, 'answered'))],
  }),
  contentType: 'text/event-stream',
  problems: [httpProblems.too_many_streams],

  async handle({ tx, caller, request, origin, response, watches, streams }, { params }) {
    const found = await findOperation(tx, params.id, visibleTo(caller.accountId))
    if (!found) throw notFound()
    const facts = {
      tokenHash: credentialHash(request.headers, origin),
      accountId: caller.accountId,
      ownerId: found.accountId,
      siteId: found.siteId,
    }
    return streams.open(response, caller.applicationId, facts, (stream) =>
      watches.watch(found.id, (view) => {
        if (view) stream.send(messageOf(view))
        if (!view || view.finishedAt !== null) stream.end()
      }),
    )
  },
})

/** All streams of an operation share one object, which is serialized once. */
const messages = new WeakMap<OperationView, string>()

function messageOf(view: OperationView): string {
  const known = messages.get(view)
  if (known !== undefined) return known
  const message = eventOf(presentOperation(view))
  messages.set(view, message)
  return message
}
