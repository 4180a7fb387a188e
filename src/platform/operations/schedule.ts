import type { Static, TSchema } from 'typebox'
import type { Database, Tx } from '../db/database.ts'
import { DAY_MS } from '../durations.ts'
import type { Log } from '../log/log.ts'
import type { Definition } from './definition.ts'
import { type EnqueueOptions, enqueue } from './enqueue.ts'
import { readDatabaseTime } from './worker/lease.ts'

/** Recurring work, created by {@link schedule}. */
export interface Schedule {
  /** It is stored, so it never changes. */
  readonly name: string
  readonly everyMs: number
  /** Slots are at multiples of `everyMs` since 1970, plus this offset. */
  readonly offsetMs: number
  enqueue(tx: Tx, slot: number): Promise<void>
}

interface ScheduleOptions<Schema extends TSchema> {
  readonly name: string
  /** The period; or use `at`. */
  readonly everyMs?: number
  /** The daily time, `HH:MM` UTC. */
  readonly at?: string
  readonly definition: Definition<Schema, never>
  /**
   * Returns the operation's input.
   * @param slot when it is due, milliseconds UTC
   */
  input(slot: number): NoInfer<Static<Schema>>
  options?(slot: number): EnqueueOptions
}

/**
 * Declares recurring work.
 * @throws Error for an invalid time of day in `at`, or if both `at` and `everyMs` are missing
 */
export function schedule<Schema extends TSchema>(given: ScheduleOptions<Schema>): Schedule {
  const { name, definition, at } = given
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(at ?? '') ?? []
  if (at !== undefined && minutes === undefined) throw new Error(`schedule ${name}: at must be HH:MM`)
  const everyMs = at === undefined ? given.everyMs : DAY_MS
  if (!everyMs || everyMs < 1) throw new Error(`schedule ${name}: everyMs or at is needed`)
  return {
    name,
    everyMs,
    offsetMs: at === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000,
    async enqueue(tx, slot) {
      await enqueue(tx, definition, given.input(slot), given.options?.(slot))
    },
  }
}

/** Returns the last slot that is not after `now`. */
export const slotAt = ({ everyMs, offsetMs }: Pick<Schedule, 'everyMs' | 'offsetMs'>, now: number): number =>
  Math.floor((now - offsetMs) / everyMs) * everyMs + offsetMs

export interface SchedulerOptions {
  readonly database: Database
  readonly schedules: readonly Schedule[]
  readonly log: Log
  /** Milliseconds UTC. The database's clock by default, so that control processes with different clocks agree. */
  readonly clock?: () => number
}

export interface Scheduler {
  start(): void
  /** Enqueues everything that is due now. `start` calls it from slot to slot. */
  tick(): Promise<void>
  stop(): Promise<void>
}

/** The longest sleep, so that a changed clock is noticed. */
const LOOK_EVERY_MS = 30_000

/**
 * Enqueues the operations of schedules. Any number of control processes may run one. One operation, that of the latest
 * slot, replaces all missed slots. A new schedule begins with its next slot.
 */
export function createScheduler({ database, schedules, log, ...options }: SchedulerOptions): Scheduler {
  const clock = async () => options.clock?.() ?? readDatabaseTime(database)
  let timer: NodeJS.Timeout | undefined
  let ticking: Promise<void> = Promise.resolve()
  let stopped = false

  const tick = async () => {
    for (const each of schedules) {
      try {
        await enqueueDue(database, each, await clock(), log)
      } catch (error) {
        log.error({ err: error, schedule: each.name }, 'could not enqueue scheduled work')
      }
    }
  }
  const tickOn = () => {
    ticking = tick()
      .then(async () => {
        const now = await clock()
        return Math.min(...schedules.map((each) => slotAt(each, now) + each.everyMs - now))
      })
      .catch(() => LOOK_EVERY_MS)
      .then((next) => {
        if (!stopped) timer = setTimeout(tickOn, Math.min(LOOK_EVERY_MS, Math.max(1, next)))
      })
  }
  return {
    start() {
      if (schedules.length > 0) tickOn()
    },
    tick,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await ticking
    },
  }
}

async function enqueueDue(database: Database, each: Schedule, now: number, log: Log): Promise<void> {
  const slot = slotAt(each, now)
  // A slot further ahead than the next one was recorded before the clock was set back. It would stop the schedule until
  // then.
  const isDue = (last: number) => last < slot || last > slot + each.everyMs
  const row = await lastSlotOf(database.read, each.name)
  if (row !== undefined && !isDue(row)) return
  await database.transaction(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('schedules')
      .values({ name: each.name, last_slot: slot })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows === 1n) return
    const last = row ?? (await lastSlotOf(tx, each.name))
    if (last === undefined || !isDue(last)) return
    const { numUpdatedRows } = await tx
      .updateTable('schedules')
      .set({ last_slot: slot })
      .where('name', '=', each.name)
      .where('last_slot', '=', last)
      .executeTakeFirst()
    if (numUpdatedRows !== 1n) return
    if (last > slot) log.warn({ schedule: each.name, last, slot }, 'reset a schedule that was far ahead of the clock')
    await each.enqueue(tx, slot)
  })
}

async function lastSlotOf(tx: Tx, name: string): Promise<number | undefined> {
  const row = await tx.selectFrom('schedules').select('last_slot').where('name', '=', name).executeTakeFirst()
  return row?.last_slot
}
