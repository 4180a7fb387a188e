import { type RawBuilder, sql } from 'kysely'
import type { Static, TSchema } from 'typebox'
import { announce, isPostgres, type Tx } from '../db/database.ts'
import { precompiled, precompiledChange } from '../db/precompiled.ts'
import { validatorOf } from '../validator-of.ts'
import type { Definition } from './definition.ts'
import { databaseNow } from './worker/lease.ts'
import { noBytesYet } from './worker/progress.ts'

/**
 * The source of operations that Stead itself requests regularly. They are forgotten before those that people requested:
 * a thousand sites have more of them in four days than Stead keeps for an account.
 */
export const ROUTINE = 'routine'

export interface EnqueueOptions {
  /** Operations of one site run one at a time, in order of creation. */
  readonly siteId?: number | null
  /** The account that owns the operation. */
  readonly accountId?: number | null
  /** The host that it is bound to; needed for definitions that run on a host. */
  readonly hostId?: number | null
  /** The earliest time to begin (milliseconds UTC). Until then it does not hold up later operations of its site. */
  readonly runAt?: number
  /**
   * Like `runAt`, but a duration in milliseconds, which does not change when the clock is set. Not together with
   * `runAt`.
   */
  readonly afterMs?: number
  /**
   * Operations that must end, successfully or not, before it begins. In the meantime it holds up later operations of
   * its site. They must be older, so that operations cannot wait for each other in a circle.
   */
  readonly after?: readonly number[]
  /** The account that requests it. A definition with a `permission` checks this account's rights before each step. */
  readonly askedById?: number | null | undefined
  /** The origin of the request (JSON), which the steps use in the records that they write; or {@link ROUTINE}. */
  readonly source?: unknown
  /** Milliseconds UTC, by default from the system's clock. */
  readonly now?: number
}

/**
 * Requests an operation, which exists if and only if the transaction commits.
 * @returns the operation's id
 * @throws TypeError when the input does not fit the definition's schema, or a host-bound operation has no host
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

/** Keyed by the steps of a definition. */
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
