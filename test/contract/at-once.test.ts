/**
 * Two callers who request the same change at the same moment get the same answers as one after the other. SQLite allows
 * one write at a time. PostgreSQL lets both read what neither has changed yet. The test walks the API's own list, so it
 * covers a new endpoint without a change here.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { atLength } from '../support/at-length.ts'
import { dialects } from '../support/database.ts'
import { type Example, unique } from '../support/samples.ts'
import { apiEndpoints, cases, type Walk, walk } from './walk.ts'

/** Endpoints with other answers, and why. */
const otherwise: Record<string, string> = {
  signOut: 'both were signed in when they asked, and are not any more',
}

/** Requests with their own rules, besides an endpoint's example. */
const besides: readonly [what: string, id: string, example: () => Example][] = [
  ['a wildcard', 'addDomain', () => ({ body: { name: `*.domain-${unique()}.test` } })],
]

const changing = apiEndpoints.filter(changes)

it('endpoints with other answers exist', () => {
  const ids = changing.map(({ id }) => id)
  expect(Object.keys(otherwise).filter((id) => !ids.includes(id))).toEqual([])
})

describe.each(dialects.filter(({ skip }) => !skip))('two at once on $dialect', ({ dialect }) => {
  let tour: Walk
  beforeAll(async () => {
    tour = await walk(dialect)
  })
  afterAll(() => tour.close())

  /** Returns the answers of two requests, in any order. */
  const answers = async (
    endpoint: Endpoint,
    inWhichWay: (send: () => Promise<string>) => Promise<string[]>,
    example?: () => Example,
  ) => {
    const scene = await tour.scene()
    // The operation of the first must not end before the second request, unless the answer waits for it.
    if (!endpoint.afterCommit) tour.leaveWork(scene.siteId)
    const request = example ? tour.requestFor(endpoint, scene, example()) : await tour.requestOf(endpoint, scene)
    // All requests come from one network, and wrong guesses of earlier tests would slow them down.
    await tour.api.database.transaction((tx) => tx.deleteFrom('sign_in_attempts').execute())
    const send = async () => {
      const { statusCode, body } = await tour.send(endpoint, request)
      return `${statusCode} ${statusCode < 400 ? '' : JSON.parse(body).code}`
    }
    return (await inWhichWay(send)).sort()
  }

  const compare = async (endpoint: Endpoint, example?: () => Example) => {
    const expected = await answers(endpoint, async (send) => [await send(), await send()], example)
    for (let times = 0; times < atLength(2, 20); times++)
      expect(await answers(endpoint, (send) => Promise.all([send(), send()]), example)).toEqual(expected)
    return expected
  }

  it.each(cases(changing.filter(({ id }) => !(id in otherwise))))('%s', async (_id, endpoint) => {
    await compare(endpoint)
  })

  it.each(besides)('%s, by %s', async (_what, id, example) => {
    const endpoint = changing.find((each) => each.id === id) as Endpoint
    expect(await compare(endpoint, example)).toEqual(['201 ', '400 domain_exists'])
  })
})
