import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../log/log.ts'
import { type ConcurrencyClass, openConcurrencyClasses } from '../concurrency-classes.ts'
import { type AnyDefinition, type Definition, definitionsByName } from '../definition.ts'
import { shortenWaits } from '../waits.ts'
import { type Claimant, claim, inConcurrencyClass, lookOut } from './claim.ts'
import { type Execution, execute } from './execution.ts'
import { createHeartbeat } from './heartbeat.ts'
import { runningLeases, type SeenLease, watchLeases } from './orphans.ts'
import type { Moment, WorkerServices } from './run-transition.ts'

export interface WorkerOptions<Services> {
  readonly database: Database
  /** All definitions; the worker takes those of its runner. */
  readonly definitions: readonly Definition<TSchema, Services>[]
  readonly runner: 'control' | 'host'
  /** The host whose operations it runs; needed where `runner` is `host`. */
  readonly hostId?: number
  /** Given to every step. */
  readonly services: Services
  readonly log: Log
  /** Milliseconds UTC, for the times that are recorded. Leases and due times follow the database's clock. */
  readonly clock?: () => number
  /** Operations at once; 4 unless given. */
  readonly concurrency?: number
  /** A worker that is not heard of for so long has lost its operations; 8 s unless given. */
  readonly leaseMs?: number
  /** Default a quarter of the lease. */
  readonly heartbeatMs?: number
  /** How often it looks by itself, for operations whose worker has died and for lost notices; 2 s unless given. */
  readonly lookEveryMs?: number
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
  /** Told of each point that an operation passes. Must not throw. */
  readonly observe?: (moment: Moment) => void
}

/** Runs operations. */
export interface Worker {
  /** Told apart in `lease_owner`. */
  readonly owner: string
  start(): void
  /**
   * Takes nothing up any more; running steps may end by themselves within `graceMs`, then their signals are aborted. What
   * is not finished goes back to the queue, for others to go on with at once. A step that ignores its signal keeps its lease
   * until that runs out, because nobody else may start what is still being done here.
   */
  stop(graceMs: number): Promise<void>
}

/** How long aborted steps have to return when the worker stops. */
const ABORT_PATIENCE_MS = 2000
/** When an operation was seen but another worker took it: until the next look. */
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

  /** @returns how many operations were taken up */
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
    const claimed = await claim(database, { ...claimant, types }, operationServices, { most, orphans })
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

  /** Notices of others' work say nothing of workers that have died, or of a changed clock: for these it looks from time to time. */
  const findOrphans = async (): Promise<readonly SeenLease[]> => {
    if (performance.now() - checkedAt < lookEveryMs / 2) return []
    checkedAt = performance.now()
    const all = inConcurrencyClass(claimant)
    if ((await shortenWaits(database, all)) > 0) lookAgain = true
    return leases.orphansAmong(await runningLeases(database.read, all))
  }

  /** Takes up what there is, as much as fits. @returns milliseconds until it should look again, notices apart */
  const takeUpAll = async (): Promise<number> => {
    while (running.size < concurrency && !stopping) {
      lookAgain = false
      const concurrencyClasses = openConcurrencyClasses(definitions, [...running], concurrency)
      if (concurrencyClasses.length === 0) break
      let orphans: readonly SeenLease[] = []
      if (!hungry || performance.now() - lookedOutAt > lookEveryMs) {
        // a read first: most notices are of others' work, and on SQLite a claim takes the one right to write
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
      // as long as the queue gave all that was asked for, there is no need to read it before asking for more
      hungry = count === most
      // others were faster, or are about to be
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
      // asked for after the last read of the database
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
