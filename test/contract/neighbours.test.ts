/**
 * What an endpoint does to one site, or account, it does to no other: beside what it is asked for stands the same once more, of somebody else
 * and of the same owner. Walks the API's own list: a new endpoint is covered without a change here.
 */
import type { InjectOptions } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import type { Person } from '../support/api.ts'
import type { Scene } from '../support/samples.ts'
import { examples } from './samples.ts'
import { cases, endpoints, isOnSite, type Walk, walk } from './walk.ts'

/** Tables that count what was changed anywhere, or that are about no site and no account. */
const shared = /_clock$|^(core_releases|hosts|schedules|operations|operation_steps)$/

/** Sealed anew in each answer. */
const random = /"(challenge|scroll_id)":"[^"]+"/

describe('beside what an endpoint is asked for', () => {
  let tour: Walk
  /** By the id of an endpoint. */
  const shown = new Map<string, readonly string[]>()
  /** Rows of somebody who has all that any example makes. */
  let furnished: readonly string[]
  beforeAll(async () => {
    tour = await walk('sqlite')
    await lookAround()
    furnished = await rowsOf(() => furnish())
  })
  afterAll(() => tour.close())

  /** All rows there are, as text. */
  const rows = async (): Promise<Set<string>> => {
    await tour.settled()
    const { read } = tour.api.database
    const all = new Set<string>()
    for (const { name } of await read.introspection.getTables())
      if (!shared.test(name))
        for (const row of await read
          .selectFrom(name as 'sites')
          .selectAll()
          .execute())
          all.add(`${name} ${JSON.stringify(row)}`)
    return all
  }
  /** Those that something makes. */
  const rowsOf = async (make: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = await rows()
    await make()
    return [...(await rows())].filter((row) => !before.has(row))
  }
  /** A site with all that any example makes. @param of whom; default: a new account */
  const furnish = async (of?: Person): Promise<Scene> => {
    const scene = await tour.scene(of)
    for (const example of Object.values(examples)) await example(scene)
    return scene
  }
  /** The same once more, by the examples of the endpoint. @returns its rows */
  const neighbourOf = (endpoint: Endpoint, { owner }: Scene, isOwn: boolean): Promise<readonly string[]> => {
    return rowsOf(async () => tour.requestOf(endpoint, await tour.scene(isOwn ? owner : undefined)))
  }

  const changing = endpoints.filter(changes)
  it.each(cases(changing))('%s changes nothing of another account', (_id, endpoint) => leaves(endpoint, false))
  it.each(cases(changing.filter(isOnSite)))('%s changes nothing of another site', (_id, endpoint) =>
    leaves(endpoint, true),
  )
  const leaves = async (endpoint: Endpoint, isOwn: boolean) => {
    const scene = await tour.scene()
    const request = await tour.requestOf(endpoint, scene)
    const neighbours = [...furnished, ...(await neighbourOf(endpoint, scene, isOwn))]
    expect(neighbours.length).toBeGreaterThan(furnished.length)
    const response = await tour.send(endpoint, request)
    expect(response.statusCode, response.body).toBe(endpoint.status ?? 200)
    const after = await rows()
    expect(neighbours.filter((row) => !after.has(row))).toEqual([])
  }

  // a download is in the log, which others show
  const reading = endpoints.filter((endpoint) => !changes(endpoint) && !endpoint.id.startsWith('download'))
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
  /** What each of them answers: alone, beside another account, and beside another site of the same. */
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
    // the first read of the statistics is in the log, which others show
    for (const [endpoint, request] of requests) await tour.send(endpoint, request)
    await look()
    await furnish()
    await look()
    await furnish(scene.owner)
    await look()
  }
})
