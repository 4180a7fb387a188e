/**
 * Each type of background work, each of its steps: fails before it has begun and after it has done its work, and is cut off there
 * (its worker is gone, another one takes over). What was given up leaves nothing where it can be undone, and a retry completes it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../src/jobs.ts'
import { retryOperation } from '../../src/platform/operations/control.ts'
import { type AnyDefinition, type Definition, PermanentFailure } from '../../src/platform/operations/definition.ts'
import { type EnqueueOptions, enqueue } from '../../src/platform/operations/enqueue.ts'
import { ended, gate, startWorker } from '../../src/platform/operations/harness.ts'
import { LeaseLost } from '../../src/platform/operations/lease.ts'
import type { Worker } from '../../src/platform/operations/worker.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { atLength } from '../support/at-length.ts'
import { type FakeHost, fakeHost } from '../support/fake-host.ts'
import { type JobSample, jobSamples, type World } from './job-samples.ts'

const faults = ['fails before its work', 'fails after its work', 'is cut off after its work'] as const
type Fault = (typeof faults)[number]

// biome-ignore lint/suspicious/noExplicitAny: steps of whatever definition
type AnyStep = any

/** The definition, one step of which has the fault the first time that it runs. */
function withFault(definition: AnyDefinition, name: string, fault: Fault): AnyDefinition {
  let struck = false
  const strike = (at: 'before' | 'after') => {
    if (struck || (at === 'before') !== (fault === 'fails before its work')) return
    struck = true
    // a worker that is told this writes nothing any more, as one that was killed
    if (fault === 'is cut off after its work') throw new LeaseLost('the end of a worker')
    throw new PermanentFailure('a fault of this test')
  }
  const step = definition.steps[name] as AnyStep
  const method = step.commit ? 'commit' : 'run'
  const faulty = {
    ...step,
    async [method](...given: unknown[]) {
      strike('before')
      const result = await step[method](...given)
      strike('after')
      return result
    },
  }
  return { ...definition, steps: { ...definition.steps, [name]: faulty } }
}

describe('background work', () => {
  let api: TestApi
  let host: FakeHost
  let worker: Worker | undefined
  let runs = 0
  beforeAll(async () => {
    api = await testApi('sqlite')
  })
  afterEach(async () => {
    await worker?.stop(5000)
    worker = undefined
    await host?.close()
    // what was asked for on the way is no work of the next test
    await api.database.transaction((tx) => tx.deleteFrom('operations').where('finished_at', 'is', null).execute())
  })
  afterAll(() => api?.close())

  async function newWorld(): Promise<World> {
    const tag = `job-${++runs}`
    host = await fakeHost(api)
    const owner = await api.person(`owner-${tag}@example.com`)
    const mate = await api.person(`mate-${tag}@example.com`)
    return { api, host, owner, mate, site: await api.site(owner, tag), mails: new Set(), maintained: [] }
  }

  function start(world: World, definition: AnyDefinition, onLost?: () => void): Worker {
    const mailer = {
      async deliver({ id }: { id: string }) {
        world.mails.add(id)
        return 'sent'
      },
    }
    const logs = { maintain: async (now: number) => void world.maintained.push(now) }
    const services = { ...host.services, masterKey: Buffer.alloc(32, 7), logs, mailer }
    return startWorker(api.database, [definition as Definition], {
      ...{ runner: definition.on, services: services as never, lookEveryMs: 40 },
      ...(onLost && { leaseMs: 300 }),
      ...(definition.on === 'host' && { hostId: host.hostId }),
      observe: ({ at }) => at === 'lost' && onLost?.(),
    })
  }

  async function ask(world: World, sample: JobSample, definition: AnyDefinition): Promise<number> {
    const { input, options } = await sample.prepare(world)
    const usual: EnqueueOptions = { siteId: world.site, accountId: world.owner.accountId, hostId: host.hostId }
    return api.database.transaction((tx) =>
      enqueue(tx, definition as Definition, input as never, { ...usual, ...options }),
    )
  }

  test('each type has a sample, and one that can be undone says what may be left', () => {
    expect(Object.keys(jobSamples).toSorted()).toEqual([...jobs.keys()].toSorted())
    const undoing = [...jobs.values()].filter(({ steps }) => Object.values(steps).some(({ undo }) => undo))
    expect(undoing.filter(({ name }) => !jobSamples[name]?.left).map(({ name }) => name)).toEqual([])
  })

  const cases = [...jobs.values()].flatMap((definition) =>
    Object.keys(definition.steps).flatMap((step, index) =>
      faults
        // before a later step there is what there is after the one before it, which is a case as well
        .filter((fault) => fault !== 'fails before its work' || atLength(index, 0) === 0)
        .map((fault) => ({ type: definition.name, step, fault, definition })),
    ),
  )

  test.each(cases)('$type: $step $fault', async ({ type, step, fault, definition }) => {
    const sample = jobSamples[type]
    if (!sample) throw new Error(`${type} needs a sample in job-samples.ts`)
    const world = await newWorld()
    const faulty = withFault(definition, step, fault)
    const id = await ask(world, sample, faulty)
    if (fault === 'is cut off after its work') {
      const lost = gate()
      worker = start(world, faulty, lost.open)
      await lost.opened
      await worker.stop(5000)
      worker = start(world, faulty, () => {})
    } else {
      worker = start(world, faulty)
      expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: 'a fault of this test' })
      await sample.left?.(world)
      expect(await api.database.transaction((tx) => retryOperation(tx, id, jobs))).toBe('queued')
    }
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
    await sample.done(world)
  })
})
