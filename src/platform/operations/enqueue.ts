import { type RawBuilder, sql } from 'kysely'
import type { Static, TSchema } from 'typebox'
import { announce, isPostgres, type Tx } from '../db/database.ts'
import { precompiled, precompiledChange } from '../db/precompiled.ts'
import { validatorOf } from '../validator-of.ts'
import type { Definition } from './definition.ts'
import { databaseNow } from './worker/lease.ts'
import { noBytesYet } from './worker/progress.ts'

/**
 * The source of what Stead asks for by itself, again and again. It is forgotten before what people asked for: a thousand sites have more of it
 * in four days than is kept of an account.
 */
export const ROUTINE = 'routine'

export interface EnqueueOptions {
  /** Operations of one site run one at a time, in order of creation. */
  readonly siteId?: number | null
  /** Whose operation it is. */
  readonly accountId?: number | null
  /** The host that it is bound to; needed for definitions that run on a host. */
  readonly hostId?: number | null
  /** Not before this time (milliseconds UTC). Until then it does not hold up later operations of its site. */
  readonly runAt?: number
  /**
   * As `runAt`, but a length of time (milliseconds): it stays one when the clock is set. Not together with `runAt`.
   */
  readonly afterMs?: number
  /**
   * Operations that must have ended, well or not, before it is begun; meanwhile it holds up later ones of its site. They are older than it, so
   * that none can wait for another in a circle.
   */
  readonly after?: readonly number[]
  /** The account that asks for it: a definition with a `permission` checks its rights before each step. */
  readonly askedById?: number | null | undefined
  /** Who asked for it (JSON), handed to the steps for the records that they write; or {@link ROUTINE}. */
  readonly source?: unknown
  /** Milliseconds UTC; the system's clock unless given. */
  readonly now?: number
}

/**
 * Asks for an operation: it exists if, and only if, the transaction commits.
 * @returns the operation's id
 * @throws TypeError when the input does not fit the definition's schema, or a host-bound one has no host
 */
export async function enqueue<Schema extends TSchema>(
  tx: Tx,
  definition: Definition<Schema, never>,
  input: NoInfer<Static<Schema>>,
  options: EnqueueOptions = {},
): Promise<number> {
  checkInput(definition, input)
  const onHost = definition.on === 'host'
  const now = Date.now()
  const { runAt, afterMs = 0 } = options
  if (runAt !== undefined && options.afterMs !== undefined) throw new TypeError('runAt or afterMs, not both')
  if (onHost && options.hostId == null) throw new TypeError(`${definition.name} runs on a host: hostId is needed`)
  const row = {
    type: definition.name,
    runner: definition.on,
    hostId: onHost ? (options.hostId ?? null) : null,
    siteId: options.siteId ?? null,
    accountId: options.accountId ?? null,
    askedById: options.askedById ?? null,
    input: JSON.stringify(input),
    source: options.source === undefined ? null : JSON.stringify(options.source),
    createdAt: options.now ?? now,
  }
  const inserted =
    runAt === undefined && isPostgres(tx)
      ? await insertByServersClock(tx, { ...row, afterMs })
      : await insertDueAt(tx, {
          ...row,
          runAt: runAt ?? now + afterMs,
          waitsSince: runAt === undefined ? now : null,
        })
  const { id } = inserted[0] as { id: number }
  await insertSteps(tx, id, definition)
  await insertWaits(tx, id, options.after ?? [])
  await announce(tx, 'operations')
  return id
}

type NewOperation = {
  type: string
  runner: 'control' | 'host'
  hostId: number | null
  siteId: number | null
  accountId: number | null
  askedById: number | null
  input: string
  source: string | null
  createdAt: number
}

const insertByServersClock = precompiled((tx, row: NewOperation & { afterMs: number }) =>
  insertOperation(tx, row, {
    runAt: sql<number>`${databaseNow(tx)} + ${row.afterMs}::bigint`,
    waitsSince: databaseNow(tx),
  }),
)
const insertDueAt = precompiled((tx, row: NewOperation & { runAt: number; waitsSince: number | null }) =>
  insertOperation(tx, row, row),
)

type Due = { runAt: number | RawBuilder<number>; waitsSince: number | RawBuilder<number> | null }

const insertOperation = (tx: Tx, row: NewOperation, due: Due) =>
  tx
    .insertInto('operations')
    .values({
      type: row.type,
      runner: row.runner,
      host_id: row.hostId,
      site_id: row.siteId,
      account_id: row.accountId,
      asked_by_id: row.askedById,
      input: row.input,
      source: row.source,
      state: 'queued',
      ending: null,
      cancel_requested: 0,
      attempts: 0,
      run_at: due.runAt,
      waits_since: due.waitsSince,
      lease_owner: null,
      lease_until: null,
      error: null,
      progress: 0,
      created_at: row.createdAt,
      started_at: null,
      finished_at: null,
    })
    .returning('id')

function checkInput(definition: Definition<TSchema, never>, input: unknown): void {
  const validator = validatorOf(definition.input)
  if (validator.Check(input)) return
  const [fault] = validator.Errors(input)
  throw new TypeError(`input of ${definition.name}: ${fault?.instancePath ?? ''} ${fault?.message ?? 'does not fit'}`)
}

async function insertWaits(tx: Tx, operationId: number, after: readonly number[]): Promise<void> {
  const waits = [...new Set(after)].map((forId) => ({ operation_id: operationId, for_id: forId }))
  if (waits.length > 0) await tx.insertInto('operation_waits').values(waits).execute()
}

async function insertSteps(tx: Tx, operationId: number, { steps }: Definition<TSchema, never>): Promise<void> {
  const names = Object.keys(steps)
  if (names.length === 0) return
  const insert = stepInserts.get(steps) ?? stepsInsert(names)
  stepInserts.set(steps, insert)
  await insert(tx, { operationId })
}

/** By the steps of a definition. */
const stepInserts = new WeakMap<object, ReturnType<typeof stepsInsert>>()

const stepsInsert = (names: readonly string[]) =>
  precompiledChange((tx, { operationId }: { operationId: number }) =>
    tx.insertInto('operation_steps').values(names.map((name, position) => newStep(operationId, name, position))),
  )

const newStep = (operationId: number, name: string, position: number) => ({
  operation_id: operationId,
  position,
  name,
  state: 'pending' as const,
  attempts: 0,
  result: null,
  error: null,
  started_at: null,
  finished_at: null,
  ...noBytesYet,
})
