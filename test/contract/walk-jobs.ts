/**
 * Each step of each type of background work fails before its work and after it, and is interrupted there (its worker is
 * gone, and another one takes over). A failed operation leaves nothing where it can be undone, and a retry completes
 * it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../src/jobs.ts'
import { type AnyDefinition, PermanentFailure } from '../../src/platform/operations/definition.ts'
import { ended, gate } from '../../src/platform/operations/harness.ts'
import { LeaseLost } from '../../src/platform/operations/worker/lease.ts'
import { type TestApi, testApi } from '../support/api.ts'
import { atLength } from '../support/at-length.ts'
import type { JobSample, JobWorld } from '../support/contract.ts'
import { jobRefusals, jobSamples } from './contracts.ts'
import { around, JobStand } from './job-stand.ts'
import { walkedSteps, walksJob } from './selection.ts'

const faults = ['fails before its work', 'fails after its work'] as const
type Fault = (typeof faults)[number] | 'is cut off after its work'

/** Returns the definition with the fault in one step, the first time that it runs. */
export function faultAt(definition: AnyDefinition, name: string, fault: Fault): AnyDefinition {
  let struck = false
  const strike = (at: 'before' | 'after') => {
    if (struck || (at === 'before') !== (fault === 'fails before its work')) return
    struck = true
    // A worker that learns this writes nothing more, like one that was killed.
    if (fault === 'is cut off after its work') throw new LeaseLost('the end of a worker')
    throw new PermanentFailure('a fault of this test')
  }
  return around(definition, name, async (work) => {
    strike('before')
    const result = await work()
    strike('after')
    return result
  })
}

/** The number of parts, each a test file. The work waits most of the time, so parts run in parallel. */
const PARTS = 3

/** Splits the steps about evenly. */
function partsOf(definitions: readonly AnyDefinition[]): Map<string, number> {
  const steps = Array.from({ length: PARTS }, () => 0)
  const partOf = new Map<string, number>()
  const count = ({ steps: all }: AnyDefinition) => Object.keys(all).length
  for (const definition of definitions.toSorted((a, b) => count(b) - count(a))) {
    const part = steps.indexOf(Math.min(...steps))
    // Each step is a run of all of them.
    steps[part] = (steps[part] as number) + count(definition) ** 2
    partOf.set(definition.name, part + 1)
  }
  return partOf
}

/** After so long, the next worker takes over an operation that was lost. */
const SHORT_MS = 800

/** @param part from 1 */
export function walkJobs(part: 1 | 2 | 3): void {
  describe(`background work, part ${part}`, () => {
    let api: TestApi
    let stand: JobStand
    beforeAll(async () => {
      api = await testApi('sqlite', {
        settings: { STEAD_ALLOW_PRIVATE_FETCH: 'true', STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443' },
      })
      stand = new JobStand(api)
    })
    afterEach(() => stand.tidy())
    afterAll(() => api?.close())

    /** Checks that neither the control database nor the host keeps the site closed. */
    const isOpen = async ({ site, host }: JobWorld) => {
      const row = api.database.read.selectFrom('sites').select('closed_by').where('id', '=', site)
      expect(await row.executeTakeFirst()).toEqual({ closed_by: null })
      expect([...host.held]).toEqual([])
    }

    test('each type has a sample, and one with an undo says what may be left', () => {
      expect(Object.keys(jobSamples).toSorted()).toEqual([...jobs.keys()].toSorted())
      const undoing = [...jobs.values()].filter(({ steps }) => Object.values(steps).some(({ undo }) => undo))
      expect(undoing.filter(({ name }) => !jobSamples[name]?.left).map(({ name }) => name)).toEqual([])
    })

    const partOf = partsOf([...jobs.values()])
    const isWalked = (name: string) => walksJob(name) && partOf.get(name) === part
    const walked = [...jobs.values()].filter(({ name }) => isWalked(name))
    const cases = walked.flatMap((definition) =>
      walkedSteps(definition).flatMap((step) =>
        faults
          // The state before a later step is the state after the previous one, which is also a case.
          .filter(
            (fault) => fault !== 'fails before its work' || atLength(step === Object.keys(definition.steps)[0], true),
          )
          .map((fault) => ({ type: definition.name, step, fault, definition })),
      ),
    )
    const sampleOf = (type: string) => {
      const sample = jobSamples[type]
      if (!sample) throw new Error(`${type} needs a sample in the contract of its resource`)
      return sample
    }
    /** Checks that the operation succeeded with its result, and that its progress never decreased. */
    const isComplete = async (world: JobWorld, id: number, sample: JobSample) => {
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
      await sample.done(world)
      await isOpen(world)
      for (const { step, fractions } of stand.told)
        expect([step, fractions]).toEqual([step, fractions.toSorted((a, b) => a - b)])
    }

    test.each(cases)('$type: $step $fault', async ({ type, step, fault, definition }) => {
      const sample = sampleOf(type)
      const world = await stand.newWorld()
      const faulty = faultAt(definition, step, fault)
      const id = await stand.ask(world, sample, faulty)
      // The fault strikes once, so another worker would not meet it.
      stand.start(world, faulty)
      expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: 'a fault of this test' })
      await sample.left?.(world)
      expect(await stand.retry(id)).toBe('queued')
      await isComplete(world, id, sample)
    })

    test.each(walked)('$name: is interrupted after the work of each of its steps', async (definition) => {
      const sample = sampleOf(definition.name)
      const world = await stand.newWorld()
      const steps = Object.keys(definition.steps)
      const faulty = steps.reduce((given, step) => faultAt(given, step, 'is cut off after its work'), definition)
      const id = await stand.ask(world, sample, faulty)
      for (const _step of steps) {
        const lost = gate()
        const worker = stand.start(world, faulty, { onLost: lost.open, leaseMs: SHORT_MS })
        await lost.opened
        await worker.stop(5000)
        // The process that ran PHP for sites is gone, too.
        world.host.held.clear()
        await stand.endLease(id)
      }
      stand.start(world, faulty, { leaseMs: SHORT_MS })
      await isComplete(world, id, sample)
    })

    test.each(jobRefusals.filter(({ type }) => isWalked(type)))(
      '$type refuses: $says',
      async ({ type, says, after, isTriedAgain = false, wrong }) => {
        const [sample, definition] = [jobSamples[type], jobs.get(type)]
        if (!sample || !definition) throw new Error(`there is no ${type}`)
        const world = await stand.newWorld()
        let input: object | undefined
        const quick = { ...definition, backoff: { firstMs: 1, mostMs: 1 } }
        const asked =
          after === undefined
            ? quick
            : around(quick, after, async (work) => {
                const result = await work()
                await wrong(world, input)
                return result
              })
        const id = await stand.ask(world, sample, asked, (given) => {
          input = given
          return after === undefined && wrong(world, given)
        })
        stand.start(world, asked)
        expect(await ended(api.database, id)).toMatchObject({ state: 'failed', error: expect.stringContaining(says) })
        const steps = api.database.read.selectFrom('operation_steps').select('attempts').where('operation_id', '=', id)
        expect((await steps.execute()).some(({ attempts }) => attempts > 1)).toBe(isTriedAgain)
        await isOpen(world)
      },
    )
  })
}
