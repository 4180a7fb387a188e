/**
 * The disk of the host, or of the backups, fills up when a step of long work begins, and stays full: the work succeeds
 * anyway, or fails with a reason and leaves the site unchanged. With free space a retry completes it.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { testBackups } from '../../src/backups/backup-store.fixture.ts'
import { jobs } from '../../src/jobs.ts'
import type { AnyDefinition } from '../../src/platform/operations/definition.ts'
import { ended } from '../../src/platform/operations/harness.ts'
import { jobSamples } from '../contract/contracts.ts'
import { around, JobStand } from '../contract/job-stand.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { atLength } from '../support/at-length.ts'
import type { JobSample } from '../support/contract.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'

/** Operations that write a site as a whole. In the others the steps that write are those of a restore. */
const types = ['site.restore', 'site.clone']
const others = ['site.sync', 'site.bring_back', 'site.provision']

/** Steps that write to the backup storage. */
const storing: Record<string, readonly string[]> = {
  'backup.take': ['take'],
  'backup.take_scheduled': ['take'],
  'site.restore': ['copy_files', 'keep_files', 'keep_database'],
}

interface Case {
  readonly type: string
  readonly step: string
  readonly definition: AnyDefinition
}

const casesOf = (types: readonly string[], steps?: Record<string, readonly string[]>): Case[] =>
  types.flatMap((type) => {
    const definition = jobs.get(type) as AnyDefinition
    return (steps?.[type] ?? Object.keys(definition.steps)).map((step) => ({ type, step, definition }))
  })

describe.skipIf(!maySmallDisk)('a full disk', () => {
  let api: TestApi
  let stand: JobStand
  let disk: SmallDisk
  afterEach(async () => {
    await disk?.relieve()
    await stand.tidy()
    await api.close()
    await disk?.remove()
  })

  test.each(casesOf([...types, ...atLength([], others)]))('on the host, at $step of $type', async (each) => {
    disk = await smallDisk(256)
    api = await testApi('sqlite')
    await breakAt(each, disk.folder)
  })

  test.each(casesOf(Object.keys(storing), storing))('on the backup storage, at $step of $type', async (each) => {
    disk = await smallDisk(64)
    const { backups } = await testBackups({ folder: disk.folder })
    api = await testApi('sqlite', { backups })
    await breakAt(each)
  })

  async function breakAt({ type, step, definition }: Case, folder?: string): Promise<void> {
    const sample = jobSamples[type] as JobSample
    stand = new JobStand(api)
    const world = await stand.newWorld(folder)
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
  }
})
