/**
 * Runs each type of background work of hosts with the login of a host on PostgreSQL, which has only its rights. Each
 * fails once at its end, so that its undo runs, too.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hostJobs } from '../../src/jobs.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { AnyDefinition } from '../../src/platform/operations/definition.ts'
import { ended } from '../../src/platform/operations/harness.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { postgresUrl } from '../support/database.ts'
import { openAsHost } from '../support/host-login.ts'
import { jobSamples } from './contracts.ts'
import { JobStand } from './job-stand.ts'
import { faultAt } from './walk-jobs.ts'

describe.skipIf(!postgresUrl)('work with the login of a host', () => {
  let api: TestApi
  let ofHost: Database
  let stand: JobStand
  beforeAll(async () => {
    api = await testApi('postgres', {
      settings: { STEAD_ALLOW_PRIVATE_FETCH: 'true', STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443' },
    })
    ofHost = await openAsHost(api, 'h')
    stand = new JobStand(api, ofHost)
  })
  afterEach(() => stand.tidy())
  afterAll(async () => {
    await ofHost?.close()
    await api?.close()
  })

  test.each(hostJobs as AnyDefinition[])('$name', async (definition) => {
    const sample = jobSamples[definition.name]
    if (!sample) throw new Error(`${definition.name} needs a sample`)
    const world = await stand.newWorld()
    const last = Object.keys(definition.steps).at(-1) as string
    const faulty = faultAt(definition, last, 'fails after its work')
    const id = await stand.ask(world, sample, faulty)
    stand.start(world, faulty)
    expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: 'a fault of this test' })
    expect(await stand.retry(id)).toBe('queued')
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    await sample.done(world)
  })
})
