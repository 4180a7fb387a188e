/**
 * That every changing endpoint changes something, and what it records besides: an entry in the activity log, a webhook
 * event, and the background work that its contract declares. The test walks the API's own list, so it covers a new
 * endpoint without a change. The contract of its resource names its events, or its reason to leave no entry.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { dialects } from '../support/database.ts'
import { type RowChanges, recordRowChanges } from '../support/row-changes.ts'
import { contracts } from './contracts.ts'
import { apiEndpoints, cases, type Walk, walk } from './walk.ts'

const unrecorded: Record<string, string> = Object.assign({}, ...contracts.map((each) => each.unrecorded))
/** By their names for webhook receivers. Events of background work are not here. */
const events: Record<string, readonly string[]> = Object.assign({}, ...contracts.map((each) => each.events))

/** Tables that say only that there was a request. */
const recording = new Set(['activity', 'events', 'event_clock'])

const changing = apiEndpoints.filter(changes)

it('exemptions and events belong to existing endpoints', () => {
  const ids = changing.map(({ id }) => id)
  expect(Object.keys({ ...unrecorded, ...events }).filter((id) => !ids.includes(id))).toEqual([])
})

describe.each(dialects.filter(({ skip }) => !skip))('changes on $dialect', ({ dialect }) => {
  let tour: Walk
  let rows: RowChanges
  beforeAll(async () => {
    tour = await walk(dialect)
    rows = await recordRowChanges(tour.api.database)
  })
  afterAll(() => tour.close())

  const newest = async (table: 'activity' | 'events'): Promise<number> => {
    const { read } = tour.api.database
    const { id } = await read
      .selectFrom(table)
      .select(({ fn }) => fn.max('id').as('id'))
      .executeTakeFirstOrThrow()
    return Number(id ?? 0)
  }

  it.each(cases(changing))(
    '%s leaves its entry, its events and its Operation-Id',
    async (id: string, endpoint: Endpoint) => {
      const request = await tour.requestOf(endpoint, await tour.scene())
      const mark = await rows.mark()
      const before = { activity: await newest('activity'), events: await newest('events') }
      const response = await tour.send(endpoint, request)
      expect(response.statusCode, response.body).toBe(endpoint.status ?? 200)
      const changed = (await rows.since(mark)).filter(({ table }) => !recording.has(table))
      const hint = 'Does the request change anything? If not, it needs an example in the contract of its resource.'
      expect(changed.length, hint).toBeGreaterThan(0)
      const { read } = tour.api.database
      const entries = await read
        .selectFrom('activity')
        .select(['account_id', 'source', 'action'])
        .where('id', '>', before.activity)
        .where('source', '=', 'api.v1')
        .execute()
      const told = await read
        .selectFrom('events')
        .select('type')
        .where('id', '>', before.events)
        .orderBy('id')
        .execute()
      expect(entries.length > 0, `${id} has ${entries.length} entries. ${hint}`).toBe(unrecorded[id] === undefined)
      expect(told.map(({ type }) => type)).toEqual(events[id] ?? [])
      expect(response.headers['operation-id'] !== undefined, hint).toBe(endpoint.starts === true)
    },
  )
})
