/**
 * Each webhook event has a cause: an endpoint (`records.test.ts` walks them), or background work (`walk-jobs.ts` runs a
 * sample of each). An event without a cause fails, and so does one that no test mentions.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { apiEndpoints } from '../../src/app.ts'
import { controlJobs, hostJobs } from '../../src/jobs.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { resources } from '../../src/resources/index.ts'
import type { JobSample } from '../support/contract.ts'
import { contracts, jobSamples } from './contracts.ts'

/** Each event, the endpoint or job that causes it, and the text of the test that sees it. */
const causes = contracts.flatMap(({ events = {}, causes = {} }) => [
  ...Object.entries(events).flatMap(([id, names]) =>
    // `records.test.ts` walks all endpoints that change something.
    [...new Set(names)].map((name) => ({ name, cause: id, seen: () => (changing.includes(id) ? name : '') })),
  ),
  ...Object.entries(causes).map(([name, { cause, seenIn }]) => ({
    name,
    cause,
    seen: () => (seenIn ? readFileSync(seenIn, 'utf8') : textOf(jobSamples[cause])),
  })),
])
const changing = apiEndpoints.filter(changes).map(({ id }) => id)
const textOf = (sample?: JobSample): string => `${sample?.done}${sample?.left}`

const declared = resources.flatMap(({ events }) => Object.keys(events ?? {}))

it('every webhook event has a cause, and every cause an event', () => {
  const without = declared.filter((name) => !causes.some((known) => known.name === name))
  expect(without).toEqual([])
  expect(causes.map(({ name }) => name).filter((name) => !declared.includes(name))).toEqual([])
})

it('every cause is an endpoint or a job that exists', () => {
  const known = [...apiEndpoints.map(({ id }) => id), ...[...hostJobs, ...controlJobs].map(({ name }) => name)]
  expect(causes.map(({ cause }) => cause).filter((cause) => !known.includes(cause))).toEqual([])
})

it.each(causes)('$name comes from $cause, as a test sees', ({ name, seen }) => {
  expect(seen()).toMatch(new RegExp(`\\b${name}\\b`))
})
