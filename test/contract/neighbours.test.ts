/**
 * An endpoint that changes one site, or account, changes no other. Beside the target, the test creates the same for
 * another account, and for the same owner. It walks the API's own list, so it covers a new endpoint without a change
 * here.
 */
import type { InjectOptions } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import type { Person } from '../support/api.ts'
import { type RowChange, type RowChanges, recordRowChanges } from '../support/row-changes.ts'
import type { Scene } from '../support/samples.ts'
import { examples } from './contracts.ts'
import { apiEndpoints, cases, isOfOperator, isOnSite, type Walk, walk } from './walk.ts'

/** Tables that count changes anywhere, or that concern no site and no account. */
const shared = /_clock$|^(core_releases|hosts|schedules|operations|operation_steps)$/

/** Sealed again in each answer. */
const random = /"(challenge|scroll_id)":"[^"]+"/

describe('neighbors of the target of an endpoint', () => {
  let tour: Walk
  /** By the ID of an endpoint. */
  const shown = new Map<string, readonly string[]>()
  /** Rows of an account with everything that any example creates. */
  let furnished: ReadonlySet<string>
  let recorded: RowChanges
  beforeAll(async () => {
    tour = await walk('sqlite')
    recorded = await recordRowChanges(tour.api.database)
    await lookAround()
    furnished = await rowsOf(() => furnish())
  })
  afterAll(() => tour.close())

  /** Returns the keys of the rows that a function creates. */
  const rowsOf = async (make: () => Promise<unknown>): Promise<ReadonlySet<string>> => {
    await tour.settled()
    const mark = await recorded.mark()
    await make()
    await tour.settled()
    const rows = new Set<string>()
    for (const each of await recorded.since(mark))
      if (shared.test(each.table)) continue
      else if (each.change === 'insert') rows.add(keyOf(each))
      else if (each.change === 'delete') rows.delete(keyOf(each))
    return rows
  }
  const keyOf = ({ table, row }: RowChange): string => `${table} ${row}`
  /**
   * Creates a site with everything that any example creates.
   * @param of the owner; default: a new account
   */
  const furnish = async (of?: Person): Promise<Scene> => {
    const scene = await tour.scene(of)
    for (const example of Object.values(examples)) await example(scene)
    return scene
  }
  /**
   * Creates the same again, with the examples of the endpoint.
   * @returns its rows
   */
  const neighbourOf = (endpoint: Endpoint, { owner }: Scene, isOwn: boolean): Promise<ReadonlySet<string>> => {
    return rowsOf(async () => tour.requestOf(endpoint, await tour.scene(isOwn ? owner : undefined)))
  }

  const changing = apiEndpoints.filter(changes)
  it.each(cases(changing))('%s changes nothing of another account', (_id, endpoint) => leaves(endpoint, false))
  it.each(cases(changing.filter(isOnSite)))('%s changes nothing of another site', (_id, endpoint) =>
    leaves(endpoint, true),
  )
  const leaves = async (endpoint: Endpoint, isOwn: boolean) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(endpoint, scene)
    const neighbours = new Set([...furnished, ...(await neighbourOf(endpoint, scene, isOwn))])
    expect(neighbours.size).toBeGreaterThan(furnished.size)
    const mark = await recorded.mark()
    const response = await tour.send(endpoint, request)
    expect(response.statusCode, response.body).toBe(endpoint.status ?? 200)
    await tour.settled()
    const changed = (await recorded.since(mark)).filter(({ change }) => change !== 'insert')
    expect(changed.filter((each) => neighbours.has(keyOf(each)))).toEqual([])
  }

  // A download adds a log entry, which other endpoints show. The operator sees what all accounts have on the hosts.
  const reading = apiEndpoints.filter(
    (endpoint) => !changes(endpoint) && !endpoint.id.startsWith('download') && !isOfOperator(endpoint),
  )
  it.each(cases(reading))('%s shows nothing of another account', async (id) => {
    const [alone, besideAnother] = answersOf(id)
    expect(besideAnother).toBe(alone)
  })
  it.each(cases(reading.filter(isOnSite)))('%s shows nothing of another site', async (id) => {
    const [, besideAnother, besideOwn] = answersOf(id)
    expect(besideOwn).toBe(besideAnother)
  })
  const answersOf = (id: string): readonly string[] => {
    const answers = shown.get(id)
    if (answers?.length !== 3) throw new Error(`${id} was not asked three times`)
    return answers
  }
  /** Returns each answer: without neighbors, beside another account, and beside another site of the same account. */
  const lookAround = async () => {
    const scene = await furnish()
    const requests = new Map<Endpoint, InjectOptions>()
    for (const endpoint of reading) requests.set(endpoint, await tour.requestOf(endpoint, scene))
    const look = async () => {
      await tour.settled()
      for (const [endpoint, request] of requests) {
        const { statusCode, body } = await tour.send(endpoint, request)
        expect(statusCode, `${endpoint.id}: ${body}`).toBe(endpoint.status ?? 200)
        shown.set(endpoint.id, [...(shown.get(endpoint.id) ?? []), body.replace(random, '')])
      }
    }
    // The first read of the statistics adds a log entry, which other endpoints show.
    for (const [endpoint, request] of requests) await tour.send(endpoint, request)
    await look()
    await furnish()
    await look()
    await furnish(scene.owner)
    await look()
  }
})
