/**
 * An environment to run background work in: one site on one host, with real site directories, and with faults that a
 * test injects.
 */

import { accountHooks, jobs } from '../../src/jobs.ts'
import { createSealer } from '../../src/platform/crypto/seal.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { requeueOperation } from '../../src/platform/operations/control.ts'
import type { AnyDefinition, Definition, StepContext } from '../../src/platform/operations/definition.ts'
import { type EnqueueOptions, enqueue } from '../../src/platform/operations/enqueue.ts'
import { startWorker } from '../../src/platform/operations/harness.ts'
import type { Worker } from '../../src/platform/operations/worker/worker.ts'
import { everyPage, type TestApi } from '../support/api.ts'
import type { JobSample, JobWorld } from '../support/contract.ts'
import { type FakeHost, fakeHost } from '../support/fake-host.ts'

// biome-ignore lint/suspicious/noExplicitAny: steps of any definition
type AnyStep = any
/** The work of a step, which a test wraps. */
export type Around = (work: () => Promise<unknown>) => Promise<unknown>

/** Returns the definition with a wrapper around the work of one step. */
export function around(definition: AnyDefinition, name: string, put: Around): AnyDefinition {
  const step = definition.steps[name] as AnyStep
  const method = step.commit ? 'commit' : 'run'
  const changed = { ...step, [method]: (...given: unknown[]) => put(async () => step[method](...given)) }
  return { ...definition, steps: { ...definition.steps, [name]: changed } }
}

/** The progress reports of a step, by its name. */
export interface Told {
  readonly step: string
  readonly fractions: number[]
}

/** Returns the definition with steps that record their progress. */
function told(definition: AnyDefinition, all: Told[]): AnyDefinition {
  const steps = Object.entries(definition.steps).map(([name, step]: [string, AnyStep]) => {
    if (!step.run) return [name, step]
    const run = async (context: StepContext<unknown, unknown>, ...others: unknown[]) => {
      const entry: Told = { step: name, fractions: [] }
      all.push(entry)
      const progress = (fraction: number) => {
        entry.fractions.push(fraction)
        context.progress(fraction)
      }
      const progressBytes = (done: number, total: number) => {
        // The total may be an estimate.
        entry.fractions.push(total > 0 ? Math.min(1, done / total) : 0)
        context.progressBytes(done, total)
      }
      return step.run({ ...context, progress, progressBytes }, ...others)
    }
    return [name, { ...step, run }]
  })
  return { ...definition, steps: Object.fromEntries(steps) }
}

const LONG_MS = 600_000

export class JobStand {
  /** The work of this test. */
  readonly told: Told[] = []
  readonly #api: TestApi
  readonly #ofHost: Database
  #host: FakeHost | undefined
  #worker: Worker | undefined
  #runs = 0
  readonly #leftovers: (() => Promise<unknown>)[] = []

  /** @param ofHost the database with the login of a host; default: with that of a control */
  constructor(api: TestApi, ofHost: Database = api.database) {
    this.#api = api
    this.#ofHost = ofHost
  }

  /** @param below parent of the host's folder; default: the system's temporary folder */
  async newWorld(below?: string): Promise<JobWorld> {
    const api = this.#api
    const tag = `job-${++this.#runs}`
    this.told.length = 0
    const host = await fakeHost(api, { below, database: this.#ofHost })
    this.#host = host
    const owner = await api.person(`owner-${tag}@example.com`)
    const mate = await api.person(`mate-${tag}@example.com`)
    return {
      api,
      host,
      owner,
      mate,
      site: await api.site(owner, tag),
      mails: new Set(),
      maintained: [],
      leftovers: this.#leftovers,
    }
  }

  /**
   * @param options.leaseMs how long a worker waits before it takes over a lost operation. Default: longer than a test, so
   * that none does because the machine is busy
   */
  start(
    world: JobWorld,
    definition: AnyDefinition,
    { onLost, leaseMs = LONG_MS }: { readonly onLost?: () => void; readonly leaseMs?: number } = {},
  ): Worker {
    const { api, host } = world
    const mailer = {
      async deliver({ id }: { id: string }) {
        world.mails.add(id)
        return 'sent'
      },
    }
    const logs = { maintain: async (now: number) => void world.maintained.push(now) }
    const keys = { masterKey: Buffer.alloc(32, 7), edgeSealer: createSealer(Buffer.alloc(32, 8)) }
    const services = { ...host.services, ...keys, logs, mailer, printPage: everyPage, definitions: jobs, accountHooks }
    this.#worker = startWorker(
      definition.on === 'host' ? this.#ofHost : api.database,
      [told(definition, this.told) as Definition],
      {
        ...{ runner: definition.on, services: services as never, lookEveryMs: 40, leaseMs },
        ...(definition.on === 'host' && { hostId: host.hostId }),
        observe: ({ at }) => at === 'lost' && onLost?.(),
      },
    )
    return this.#worker
  }

  /** @param alter changes the input, or its subject, after the sample has prepared it */
  async ask(
    world: JobWorld,
    sample: JobSample,
    definition: AnyDefinition,
    alter?: (input: object) => unknown,
  ): Promise<number> {
    const { input, options } = await sample.prepare(world)
    await alter?.(input)
    const { site: siteId, owner, host } = world
    const usual: EnqueueOptions = { siteId, accountId: owner.accountId, hostId: host.hostId }
    return this.#api.database.transaction((tx) =>
      enqueue(tx, definition as Definition, input as never, { ...usual, ...options }),
    )
  }

  /** Expires the lease of a worker that is gone. */
  endLease = (id: number) =>
    this.#api.database.transaction((tx) =>
      tx.updateTable('operations').set({ lease_until: 0 }).where('id', '=', id).execute(),
    )

  retry = (id: number) => this.#api.database.transaction((tx) => requeueOperation(tx, id, jobs))

  async tidy(): Promise<void> {
    await this.#worker?.stop(5000)
    this.#worker = undefined
    for (const each of this.#leftovers.splice(0)) await each()
    await this.#host?.close()
    this.#host = undefined
    await this.#api.database.transaction(async (tx) => {
      // Work that was started on the way must not run in the next test, whose host has no earlier sites.
      await tx.deleteFrom('operations').where('finished_at', 'is', null).execute()
      await tx.updateTable('sites').set({ host_id: null }).execute()
    })
  }
}
