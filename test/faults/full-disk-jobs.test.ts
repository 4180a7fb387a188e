/**
 * The disk is full when a step of long work begins, and stays so: the work succeeds all the same, or fails with a reason and leaves the site as it
 * was; with room again a retry completes it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../src/jobs.ts'
import type { AnyDefinition } from '../../src/platform/operations/definition.ts'
import { ended } from '../../src/platform/operations/harness.ts'
import { type JobSample, jobSamples } from '../contract/job-samples.ts'
import { around, JobStand } from '../contract/job-stand.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { atLength } from '../support/at-length.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'

/** What writes a site as a whole. Of the others the steps that write are those of a restore. */
const types = ['site.restore', 'site.clone']
const others = ['site.sync', 'site.bring_back', 'site.provision']

const cases = [...types, ...atLength([], others)].flatMap((type) => {
  const definition = jobs.get(type) as AnyDefinition
  return Object.keys(definition.steps).map((step) => ({ type, step, definition }))
})

describe.skipIf(!maySmallDisk)('a full disk', () => {
  let api: TestApi
  let stand: JobStand
  let disk: SmallDisk
  beforeAll(async () => {
    api = await testApi('sqlite')
    stand = new JobStand(api)
  })
  afterEach(async () => {
    await disk?.relieve()
    await stand.tidy()
    await disk?.remove()
  })
  afterAll(() => api?.close())

  test.each(cases)('at $step of $type', async ({ type, step, definition }) => {
    const sample = jobSamples[type] as JobSample
    disk = await smallDisk(256)
    const world = await stand.newWorld(disk.folder)
    const full = around(definition, step, async (work) => {
      await disk.fill()
      return work()
    })
    const id = await stand.ask(world, sample, full)
    const worker = stand.start(world, { ...full, backoff: { firstMs: 1, mostMs: 1 } })
    const { state, error } = await ended(api.database, id)
    await worker.stop(5000)
    await disk.relieve()
    if (state !== 'succeeded') {
      expect(error).toMatch(/disk .*full|ENOSPC/)
      await sample.left?.(world)
      stand.start(world, definition)
      expect(await stand.retry(id)).toBe('queued')
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    }
    await sample.done(world)
  })
})
