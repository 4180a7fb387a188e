import type { Static, TSchema } from 'typebox'
import type { Tx } from '../db/database.ts'
import type { Log } from '../log/log.ts'
import type { Backoff } from './worker/backoff.ts'

/*
 * Durable operations: work that outlives the process that does it. The words:
 *
 * operation   one piece of work asked for: a row written in the very transaction that asks for it. It is queued, running, or
 *             ended (succeeded, failed, canceled). Begun: some worker has taken it up once, and it has not ended.
 * step        a named part of an operation. Its result is recorded when it is done, so that after a crash the work goes on at
 *             the step that was cut off. That step runs again: a step must be idempotent. A `warning` in it is shown to clients.
 * commit step a step that is nothing but a change of the database. It runs in the transaction that records it as done, and
 *             so happens exactly once.
 * undo        takes back what a step did, also one that was cut off half-way. Run in reverse order when an operation fails for
 *             good or is canceled.
 * definition  what an operation of a type consists of: code. The rows of the steps are the plan of one operation; they
 *             stay as they were when it was asked for.
 * worker      takes operations up and runs them, several at a time. Control workers run what needs no site files; the worker
 *             of a host runs what is bound to that host.
 * lease       a worker's right to one operation, until a time that its heartbeat keeps moving on. When the time
 *             has passed, another worker takes the operation over.
 * fencing     a worker that lost its lease without noticing (it was paused, cut off) must not write any more: each of its
 *             writes is conditional on the lease still being its own, told by owner and by the number of times that the
 *             operation was taken up.
 * slot        a time at which a schedule is due. Each slot is enqueued once, however many controls there are.
 */

/** Thrown by a step that no further attempt can help: the operation fails at once, with this message. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

/** Whose operation it is that goes on. */
export interface PermissionContext<Input = unknown> {
  readonly askedById: number
  readonly input: Input
  /** Of the steps that are done, by name. */
  readonly results: Readonly<Record<string, unknown>>
}

/** Marks an error, or its cause, that is the machine's: the step is retried, and the attempt does not count. */
export const uncounted = Symbol('uncounted')

export function isUncounted(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) if (uncounted in each) return true
  return false
}

/** What a step gets. `Results`: of the steps before it that it reads, by name. */
export interface StepContext<Input = unknown, Services = unknown, Results = unknown> {
  readonly operationId: number
  readonly siteId: number | null
  readonly accountId: number | null
  /** Who asked for it, as given to `enqueue`. */
  readonly source: unknown
  readonly input: Input
  /** Results of the steps that are done, by name, as they came back from JSON. A step that comes later has none yet. */
  readonly results: Readonly<Results>
  /** 1 at the first attempt of this step; starts cut off by a crash count, those cut off by an orderly stop do not. */
  readonly attempt: number
  /** Aborted when somebody asks to cancel (not while undoing), when the lease is lost, and when the worker stops. */
  readonly signal: AbortSignal
  /** What the role gives its operations. */
  readonly services: Services
  readonly log: Log
  /** Milliseconds UTC. */
  now(): number
  /** How much of this step is done, 0 to 1; written at most every 250 ms. */
  progress(fraction: number): void
  /** The same of a step that moves bytes: clients see them, and how long it takes still. A total that is a guess may change. */
  progressBytes(doneBytes: number, totalBytes: number): void
  /** Runs `work` in one transaction, which is refused if the operation is no longer this worker's. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

/** A step with effects outside the database: may run again after a crash, so it must be idempotent. */
export interface RunStep<Input, Services, Results = unknown, Result = unknown> {
  /** What it returns is recorded as JSON, for later steps. */
  run(ctx: StepContext<Input, Services, NoInfer<Results>>): Result | Promise<Result>
  /** Must be idempotent, and bear that the step was cut off half-way or had not done anything yet. */
  undo?(ctx: StepContext<Input, Services, Partial<NoInfer<Results>>>): unknown
  commit?: undefined
  /** Share of the progress bar; 1 unless given. */
  readonly weight?: number
}

/** A step that is a change of the database only: in one transaction with its record, and so exactly once. */
export interface CommitStep<Input, Services, Results = unknown, Result = unknown> {
  commit(tx: Tx, ctx: StepContext<Input, Services, NoInfer<Results>>): Promise<Result>
  /** In one transaction with its record, too. */
  undo?(tx: Tx, ctx: StepContext<Input, Services, Partial<NoInfer<Results>>>): Promise<unknown>
  run?: undefined
  readonly weight?: number
}

export type Step<Input, Services, Results = unknown, Result = unknown> =
  | RunStep<Input, Services, Results, Result>
  | CommitStep<Input, Services, Results, Result>

/**
 * The steps of a definition by name, in order. The compiler infers `Results` from what they return: `results.home` has the type
 * that the step `home` returns. A step in a function of its own names those that it reads in the type of its context; one
 * written in place whose result others read must name the type of its context, too, or do without a context.
 */
export type Steps<Input, Services, Results> = {
  readonly [Name in keyof Results]: Step<Input, Services, Results, Results[Name]>
}

/** What the hook of a failed or canceled operation gets. */
export interface FailureContext<Input = unknown> {
  readonly operationId: number
  readonly siteId: number | null
  readonly accountId: number | null
  readonly source: unknown
  readonly input: Input
  readonly canceled: boolean
  /** What is stored as the operation's error; `null` when it was canceled before anything failed. */
  readonly error: string | null
  now(): number
}

/** An operation type. Made by {@link durable}. */
export interface Definition<Schema extends TSchema = TSchema, Services = never> {
  /** `noun.verb`; stored, so it stays for ever. */
  readonly name: string
  readonly input: Schema
  /** Which role runs it: `host` is bound to one host, given to `enqueue`. */
  readonly on: 'control' | 'host'
  /**
   * Who may cancel and retry it besides the account whose operation it is: nobody, or who has this right on its site. What the
   * rights are called is the resources' business.
   */
  readonly changeableBy: 'account' | { readonly site: string }
  /** Nobody can cancel it by the API: what it ends was decided for good, and half of it would be left. */
  readonly mustEnd?: true
  /** How often a step is tried before the operation fails; 5 unless given. The same goes for each undo. */
  readonly attempts?: number
  readonly backoff?: Partial<Backoff>
  /** So many of the type does one worker at most at a time, and only with what others leave; as many as it can unless given. */
  readonly atOnce?: number
  /** It is canceled when a person starts another operation of its site, which would have to wait for it. It can be repeated at any time. */
  readonly yields?: true
  /**
   * Returns why the account that asked for the operation may not continue it. Asked before each step runs, for a commit step in its
   * transaction, and never before an undo. The operation then fails for good with this text. Stead's own operations are not asked.
   */
  permission?(tx: Tx, ctx: PermissionContext<Static<Schema>>): Promise<string | undefined>
  readonly steps: Readonly<Record<string, Step<Static<Schema>, Services>>>
  /**
   * Runs in the transaction that makes the operation failed or canceled: the activity entry, the event. When it throws, its
   * writes are dropped, the fault is logged, and the operation ends all the same.
   */
  failed?(tx: Tx, ctx: FailureContext<Static<Schema>>): Promise<unknown>
  /** Never set: lets the compiler see that a worker gives every definition the services it needs. */
  readonly needs?: (services: Services) => void
}

/** A definition of whatever input and services. */
export type AnyDefinition = Definition<TSchema, never>

/** What {@link durable} is given: a definition whose steps know each other's results. */
type Declared<Schema extends TSchema, Services, Results> = Omit<Definition<Schema, Services>, 'steps'> & {
  readonly steps: Steps<Static<Schema>, Services, Results>
}

/** `durableWith<HostServices>()({ … })`: declares an operation type whose steps are given these services. */
export const durableWith =
  <Services>() =>
  <Schema extends TSchema, Results>(definition: Declared<Schema, Services, Results>): Definition<Schema, Services> => {
    if (definition.yields) yielding.push(definition.name)
    return definition as Definition<Schema, Services>
  }

/** What the code declares, as it is loaded. */
const yielding: string[] = []

/** Returns the names of the declared types that yield to others. */
export const yieldingTypes = (): readonly string[] => yielding

/** Declares an operation type whose steps need no services. */
export const durable = durableWith<unknown>()

/** Definitions by name. */
export type Definitions = ReadonlyMap<string, AnyDefinition>

/** @throws Error when two definitions have one name. */
export function definitionsByName(list: readonly AnyDefinition[]): Definitions {
  const byName = new Map(list.map((definition) => [definition.name, definition]))
  if (byName.size !== list.length) throw new Error('two operation types have the same name')
  return byName
}
