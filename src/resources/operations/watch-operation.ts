import { Readable } from 'node:stream'
import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { getOperation } from '../../platform/operations/read.ts'
import { watchOperation as watch } from '../../platform/operations/watch.ts'
import { operation } from '../operation.ts'
import { OperationId, presentOperation, visibleTo } from './operation.ts'

/** Keeps the connection through proxies that close silent ones. */
const HEARTBEAT_MS = 15_000

export const watchOperation = operation({
  id: 'watchOperation',
  method: 'GET',
  path: '/v1/operations/{id}/events',
  tag: 'Operations',
  summary: 'Follow an operation',
  description:
    'Server-sent events: `operation`, whose data is the Operation object, at once and after each change. The stream ends with the operation.',
  access: { account: 'own' },
  params: Type.Object({ id: OperationId }),
  style: 'stream',
  response: Type.String({ description: 'text/event-stream' }),
  contentType: 'text/event-stream',

  async handle({ tx, caller, database, response }, { params }) {
    const found = await getOperation(tx, params.id, visibleTo(caller.accountId))
    if (!found) throw notFound()
    const gone = new AbortController()
    const stream = Readable.from(events(database, found.id, gone.signal))
    response.raw.on('close', () => gone.abort())
    response.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // some proxies collect a response before they pass it on
      'x-accel-buffering': 'no',
    })
    return response.send(stream)
  },
})

async function* events(database: Database, id: number, signal: AbortSignal): AsyncGenerator<string> {
  const views = watch(database, id, signal)[Symbol.asyncIterator]()
  let next = views.next()
  while (!signal.aborted) {
    const beat = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => beat.resolve(undefined), HEARTBEAT_MS)
    const result = await Promise.race([next, beat.promise]).finally(() => clearTimeout(timer))
    if (!result) {
      yield ': still here\n\n'
      continue
    }
    if (result.done) return
    yield `event: operation\ndata: ${JSON.stringify(presentOperation(result.value))}\n\n`
    next = views.next()
  }
}
