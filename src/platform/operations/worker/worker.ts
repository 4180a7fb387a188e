import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../log/log.ts'
import { type ConcurrencyClass, openConcurrencyClasses } from '../concurrency-classes.ts'
import { type AnyDefinition, type Definition, definitionsByName } from '../definition.ts'
import { shortenWaits } from '../waits.ts'
import { type Claimant, claimOperations, inConcurrencyClass, lookOut } from './claim-operations.ts'
import { type Execution, execute } from './execution.ts'
import { createHeartbeat } from './heartbeat.ts'
import { runningLeases, type SeenLease, watchLeases } from './orphans.ts'
import type { TransitionMoment, WorkerServices } from './run-transition.ts'

export interface WorkerOptions<Services> {
  readonly database: Database
  /** All definitions. The worker uses those of its runner. */
  readonly definitions: readonly Definition<TSchema, Services>[]
  readonly runner: 'control' | 'host'
  /** The host whose operations it runs. Required if `runner` is `host`. */
  readonly hostId?: number
  /** Passed to every step. */
  readonly services: Services
  readonly log: Log
  /** Milliseconds UTC, for the recorded times. Leases and due times follow the database's clock. */
  readonly clock?: () => number
  /** How many operations run at once, 4 by default. */
  readonly concurrency?: number
  /** A worker that is silent for this long has lost its operations. 8 s by default. */
  readonly leaseMs?: number
  /** A quarter of the lease by default. */
  readonly heartbeatMs?: number
  /** How often it looks for operations of dead workers, and for missed notifications. 2 s by default. */
  readonly lookEveryMs?: number
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
  /** Called at each point that an operation reaches. Must not throw. */
  readonly observe?: (moment: TransitionMoment) => void
}

/** Runs operations. */
export interface Worker {
  /** Identifies the worker in `lease_owner`. */
  readonly owner: string
  start(): void
  /**
   * Takes up nothing more. Running steps may finish within `graceMs`, then their signals are aborted. Unfinished
   * operations return to the queue, for other workers to continue at once. A step that ignores its signal keeps its
   * lease until that expires, because no other worker may start work that is still running here.
   */
  stop(graceMs: number): Promise<void>
}

/** How long aborted steps have to return when the worker stops. */
const ABORT_PATIENCE_MS = 2000
/** The time until the next look, after another worker took an operation that this one had seen. */
const RACE_LOST_WAIT_MS = 50

/** @throws Error for a host's worker without `hostId` */
export function createWorker<Services>(options: WorkerOptions<Services>): Worker {
  const { database, runner, hostId, log, concurrency = 4, leaseMs = 8000, lookEveryMs = 2000 } = options
  if (runner === 'host' && hostId === undefined) throw new Error("a host's worker needs hostId")
  const definitions = definitionsByName(options.definitions.filter(({ on }) => on === runner) as AnyDefinition[])
  const owner = `${runner}-${hostId ?? ''}-${process.pid}-${randomUUID()}`
  const claimant: Claimant = { owner, runner, hostId: hostId ?? null, definitions, leaseMs }
  const clock = options.clock ?? Date.now
  const operationServices: WorkerServices = {
    database,
    log,
    services: options.services,
    clock,
    random: options.random ?? Math.random,
    observe: options.observe ?? (() => {}),
  }
  const running = new Set<Execution>()
  const heartbeat = createHeartbeat({ database, log, owner, running, leaseMs })
  let stopping = false
  let looking: Promise<void> | undefined
  let lookAgain = false
  let hungry = false
  let lookedOutAt = Number.NEGATIVE_INFINITY
  let checkedAt = Number.NEGATIVE_INFINITY
  let nextLook: NodeJS.Timeout | undefined
  const leases = watchLeases(leaseMs)
  const ends: (() => void)[] = []

  /** @returns how many operations it took up */
  const takeUp = async (
    concurrencyClasses: readonly ConcurrencyClass[],
    most: number,
    orphans: readonly SeenLease[],
  ): Promise<number> => {
    let count = 0
    for (const [index, concurrencyClass] of concurrencyClasses.entries()) {
      const room = Math.min(concurrencyClass.most, most - count)
      if (room > 0) count += await takeUpOf(concurrencyClass.types, room, index === 0 ? orphans : [])
    }
    return count
  }

  const takeUpOf = async (types: readonly string[], most: number, orphans: readonly SeenLease[]): Promise<number> => {
    const claimed = await claimOperations(database, { ...claimant, types }, operationServices, { most, orphans })
    for (const { lease, current } of claimed) {
      const definition = definitions.get(current.operation.type) as AnyDefinition
      const execution = execute(operationServices, definition, lease, current)
      running.add(execution)
      execution.done.then(() => {
        running.delete(execution)
        look()
      })
    }
    return claimed.length
  }

  /** Looks from time to time for dead workers and a changed clock, because notifications do not report them. */
  const findOrphans = async (): Promise<readonly SeenLease[]> => {
    if (performance.now() - checkedAt < lookEveryMs / 2) return []
    checkedAt = performance.now()
    const all = inConcurrencyClass(claimant)
    if ((await shortenWaits(database, all)) > 0) lookAgain = true
    return leases.orphansAmong(await runningLeases(database.read, all))
  }

  /**
   * Takes up as many operations as fit.
   * @returns milliseconds until the next look, if no notification arrives before
   */
  const takeUpAll = async (): Promise<number> => {
    while (running.size < concurrency && !stopping) {
      lookAgain = false
      const concurrencyClasses = openConcurrencyClasses(definitions, [...running], concurrency)
      if (concurrencyClasses.length === 0) break
      let orphans: readonly SeenLease[] = []
      if (!hungry || performance.now() - lookedOutAt > lookEveryMs) {
        // It reads first: most notifications are for other workers, and on SQLite a claim takes the only write lock.
        const outlook = await lookOut(database.read, {
          ...claimant,
          types: concurrencyClasses.flatMap(({ types }) => types),
        })
        lookedOutAt = performance.now()
        orphans = await findOrphans()
        hungry = outlook.due || orphans.length > 0
        if (!hungry && !lookAgain) return outlook.waitMs ?? lookEveryMs
        if (!hungry) continue
      }
      const most = concurrency - running.size
      if (stopping) break
      const count = await takeUp(concurrencyClasses, most, orphans)
      // If the queue filled the last request completely, a read before the next request is unnecessary.
      hungry = count === most
      // Other workers were faster, or are about to be.
      if (count === 0 && !lookAgain) return RACE_LOST_WAIT_MS
    }
    return lookEveryMs
  }

  const lookOnce = async (): Promise<void> => {
    clearTimeout(nextLook)
    lookAgain = false
    let waitMs = lookEveryMs
    try {
      waitMs = await takeUpAll()
    } catch (error) {
      hungry = false
      log.error({ err: error }, 'could not claim operations')
    }
    if (!stopping) nextLook = setTimeout(look, Math.min(waitMs, lookEveryMs))
  }

  const look = (): void => {
    if (stopping || definitions.size === 0) return
    if (looking) {
      lookAgain = true
      return
    }
    looking = lookOnce().finally(() => {
      looking = undefined
      // A look was requested after the last read of the database.
      if (lookAgain) look()
    })
  }

  return {
    owner,
    start() {
      const notice = () => {
        look()
        heartbeat.check()
      }
      ends.push(database.changes.subscribe('operations', notice))
      const beat = setInterval(heartbeat.renew, options.heartbeatMs ?? leaseMs / 4)
      ends.push(() => clearInterval(beat))
      look()
    },
    async stop(graceMs) {
      stopping = true
      clearTimeout(nextLook)
      await looking
      for (const execution of running) execution.endAfterStep()
      await endedWithin(running, graceMs)
      for (const execution of running) execution.abort('stopping')
      await endedWithin(running, ABORT_PATIENCE_MS)
      if (running.size > 0)
        log.warn({ operations: running.size }, 'running steps did not stop, their operations resume at the next start')
      for (const end of ends) end()
    },
  }
}

async function endedWithin(executions: ReadonlySet<Execution>, timeMs: number): Promise<void> {
  if (executions.size === 0) return
  const timeUp = new AbortController()
  const settled = Promise.all([...executions].map(({ done }) => done))
  await Promise.race([settled, pause(timeMs, undefined, { signal: timeUp.signal }).catch(() => {})])
  timeUp.abort()
}
