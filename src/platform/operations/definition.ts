import type { Static, TSchema } from 'typebox'
import type { Tx } from '../db/database.ts'
import type { Log } from '../log/log.ts'
import type { Backoff } from './worker/backoff.ts'

/*
 * Durable operations: work that outlives the process that does it. The terms:
 *
 * operation   one requested piece of work: a row, written in the transaction that requests the work. It is queued,
 *             running, or ended (succeeded, failed, canceled). Begun: a worker has taken it up once, and it has not
 *             ended.
 * step        a named part of an operation. Its result is recorded when it is done, so that after a crash the work
 *             resumes at the interrupted step. That step runs again: a step must be idempotent. Clients see a `warning`
 *             in its result.
 * commit step a step that only changes the database. It runs in the transaction that records it as done, and so happens
 *             exactly once.
 * point of    a commit step after which only the cleanup is left. Nothing before it is undone or repeated, and a cancel
 * no return   comes too late.
 * undo        reverses the effects of a step, even of one that was interrupted half-way. Undos run in reverse order
 *             when an operation fails for good or is canceled.
 * definition  the code of one type of operation. The rows of the steps are the plan of one operation; they stay as they
 *             were when it was requested.
 * worker      takes up operations and runs them, several at a time. Control workers run those that need no site files;
 *             the worker of a host runs those that are bound to that host.
 * lease       a worker's right to one operation, until a time that its heartbeat keeps extending. When the time has
 *             passed, another worker takes the operation over.
 * fencing     a worker that has lost its lease without noticing (paused, disconnected) must no longer write: each of
 *             its writes depends on the lease still being its own, as shown by the owner and by the number of times
 *             that the operation was taken up.
 * slot        a time at which a schedule is due. Each slot is enqueued once, however many control processes there are.
 */

/** Thrown by a step if no further attempt can help. The operation fails at once, with this message. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}

/** The facts for deciding whether an account may continue an operation. */
export interface PermissionContext<Input = unknown> {
  readonly askedById: number
  readonly input: Input
  /** The results of the finished steps, by name. */
  readonly results: Readonly<Record<string, unknown>>
}

/** Marks an error, or its cause, as the machine's fault: the step is retried, and the attempt does not count. */
export const uncounted = Symbol('uncounted')

export function isUncounted(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) if (uncounted in each) return true
  return false
}

/** The context of a step. `Results` are those of the earlier steps that it reads, by name. */
export interface StepContext<Input = unknown, Services = unknown, Results = unknown> {
  readonly operationId: number
  readonly siteId: number | null
  readonly accountId: number | null
  /** The origin of the request, as passed to `enqueue`. */
  readonly source: unknown
  readonly input: Input
  /** The results of the finished steps, by name, as parsed from JSON. Later steps have none yet. */
  readonly results: Readonly<Results>
  /**
   * 1 at the first attempt of this step. Attempts interrupted by a crash count; those interrupted by an orderly stop do
   * not.
   */
  readonly attempt: number
  /** Aborted on a cancel request (not while undoing), when the lease is lost, and when the worker stops. */
  readonly signal: AbortSignal
  /** The services that the role provides to its operations. */
  readonly services: Services
  readonly log: Log
  /** Milliseconds UTC. */
  now(): number
  /** Reports the finished share of this step, 0 to 1. Written at most every 250 ms. */
  progress(fraction: number): void
  /**
   * Reports the progress of a step that moves bytes. Clients see the bytes and the remaining time. An estimated total
   * may change.
   */
  progressBytes(doneBytes: number, totalBytes: number): void
  /** Runs `work` in one transaction, which is refused if this worker no longer holds the operation. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

/** A step with effects outside the database. It may run again after a crash, so it must be idempotent. */
export interface RunStep<Input, Services, Results = unknown, Result = unknown> {
  /** Its return value is recorded as JSON, for later steps. */
  run(ctx: StepContext<Input, Services, NoInfer<Results>>): Result | Promise<Result>
  /** Must be idempotent, and must handle a step that was interrupted half-way or has not done anything yet. */
  undo?(ctx: StepContext<Input, Services, Partial<NoInfer<Results>>>): unknown
  commit?: undefined
  pointOfNoReturn?: undefined
  /** The share of the progress bar, 1 by default. */
  readonly weight?: number
}

/** A step that only changes the database, in one transaction with its record, and so exactly once. */
export interface CommitStep<Input, Services, Results = unknown, Result = unknown> {
  commit(tx: Tx, ctx: StepContext<Input, Services, NoInfer<Results>>): Promise<Result>
  /** Also runs in one transaction with its record. */
  undo?(tx: Tx, ctx: StepContext<Input, Services, Partial<NoInfer<Results>>>): Promise<unknown>
  run?: undefined
  /**
   * Whether the operation has done its work with this step. Nothing before it is undone or repeated from then on, not
   * even in a retry. A cancel comes too late, no permission is checked, and `failed` is not called.
   */
  readonly pointOfNoReturn?: true
  readonly weight?: number
}

export type Step<Input, Services, Results = unknown, Result = unknown> =
  | RunStep<Input, Services, Results, Result>
  | CommitStep<Input, Services, Results, Result>

/**
 * The steps of a definition by name, in order. The compiler infers `Results` from their return types: `results.home`
 * has the type that the step `home` returns.
 * A step in a separate function names the results that it reads in the type of its context. An inline step whose result
 * others read must also name the type of its context, or have no context.
 */
export type Steps<Input, Services, Results> = {
  readonly [Name in keyof Results]: Step<Input, Services, Results, Results[Name]>
}

/** A secret that the database has only sealed. */
export interface SealedSecret {
  readonly sealed: string
  /** Bound to the sealed text: see `Sealer`. */
  readonly purpose: string
}

/** The context of the hook of a failed or canceled operation. */
export interface FailureContext<Input = unknown> {
  readonly operationId: number
  readonly siteId: number | null
  readonly accountId: number | null
  readonly source: unknown
  readonly input: Input
  readonly canceled: boolean
  /** Whether it was canceled because it yielded to another operation of its site: see `yields`. */
  readonly yielded: boolean
  /** The operation's stored error; `null` if it was canceled before anything failed. */
  readonly error: string | null
  now(): number
}

/** An operation that may yield to another one. */
export interface YieldingOperation<Input = unknown> {
  readonly operationId: number
  readonly siteId: number
  readonly source: unknown
  readonly input: Input
  /** Milliseconds UTC. */
  readonly now: number
}

/** An operation type, created by {@link durable}. */
export interface Definition<Schema extends TSchema = TSchema, Services = never> {
  /** `noun.verb`. It is stored, so it never changes. */
  readonly name: string
  readonly input: Schema
  /** The role that runs it. `host` operations are bound to one host, which is passed to `enqueue`. */
  readonly on: 'control' | 'host'
  /**
   * Accounts that may cancel and retry it: the one that owns it, or also those with this right on its site. The
   * resources define the names of rights.
   */
  readonly changeableBy: 'account' | { readonly site: string }
  /** Whether the API refuses to cancel it: its effect was decided for good, and a cancel would leave it half done. */
  readonly mustEnd?: true
  /** How often a step is tried before the operation fails, 5 by default. The same limit applies to each undo. */
  readonly attempts?: number
  readonly backoff?: Partial<Backoff>
  /**
   * How many of this type one worker runs at a time, within the capacity that others leave. By default, as many as it
   * can.
   */
  readonly atOnce?: number
  /**
   * Called when a person starts another operation of its site that would have to wait for it, in that transaction. It
   * returns whether it is canceled for that. If so, it has made sure that it is repeated where that is needed. Its rows
   * are not locked, so its worker may have begun a step more.
   */
  yields?(tx: Tx, open: YieldingOperation<Static<Schema>>): Promise<boolean>
  /** Whether a person may pause it. Its steps ask `isPaused` before they begin more work. */
  readonly pausable?: true
  /** Whether other operations do its work, which it starts and waits for. */
  readonly follows?: true
  /**
   * Returns why the account that requested the operation may not continue it. It runs before each step, for a commit
   * step in its transaction, and never before an undo. The operation then fails for good with this text. Stead's own
   * operations are not checked.
   */
  permission?(tx: Tx, ctx: PermissionContext<Static<Schema>>): Promise<string | undefined>
  /**
   * Returns the one secret that its steps may open, while it runs. A host without the master key has a control open it,
   * so it must depend on nothing but the stored input.
   */
  secret?(tx: Tx, input: Static<Schema>): Promise<SealedSecret | undefined>
  /** Returns the sites whose backups its steps read, besides its own. A host gets the keys of no others. */
  readsBackupsOf?(input: Static<Schema>): readonly number[]
  readonly steps: Readonly<Record<string, Step<Static<Schema>, Services>>>
  /**
   * Runs in the transaction that marks the operation as failed or canceled, to write the activity entry and the event.
   * If it throws, its writes are dropped and the error is logged, but the operation still ends.
   */
  failed?(tx: Tx, ctx: FailureContext<Static<Schema>>): Promise<unknown>
  /** Never set. It lets the compiler check that a worker provides every definition's services. */
  readonly needs?: (services: Services) => void
}

/** A definition with any input and services. */
export type AnyDefinition = Definition<TSchema, never>

/** The parameter of {@link durable}: a definition whose steps know each other's results. */
type Declared<Schema extends TSchema, Services, Results> = Omit<Definition<Schema, Services>, 'steps'> & {
  readonly steps: Steps<Static<Schema>, Services, Results>
}

/** `durableWith<HostServices>()({ … })`: declares an operation type whose steps receive these services. */
export const durableWith =
  <Services>() =>
  <Schema extends TSchema, Results>(definition: Declared<Schema, Services, Results>): Definition<Schema, Services> => {
    if (definition.yields) yielding.push(definition as AnyDefinition)
    return definition as Definition<Schema, Services>
  }

/** Types that yield, collected while the code loads. */
const yielding: AnyDefinition[] = []

/** Returns the declared types that yield to others. */
export const yieldingTypes = (): readonly AnyDefinition[] => yielding

/** Declares an operation type whose steps need no services. */
export const durable = durableWith<unknown>()

/** Definitions by name. */
export type Definitions = ReadonlyMap<string, AnyDefinition>

/**
 * Returns definitions by name.
 * @throws Error when two definitions have the same name
 */
export function definitionsByName(list: readonly AnyDefinition[]): Definitions {
  const byName = new Map(list.map((definition) => [definition.name, definition]))
  if (byName.size !== list.length) throw new Error('two operation types have the same name')
  return byName
}
