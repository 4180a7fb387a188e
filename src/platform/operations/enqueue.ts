import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { announce, type Tx } from '../db/database.ts'
import type { Definition } from './definition.ts'
import { databaseNow } from './lease.ts'

export interface EnqueueOptions {
  /** Operations of one site run one at a time, in order of creation. */
  readonly siteId?: number | null
  /** Whose operation it is. */
  readonly accountId?: number | null
  /** The host that it is bound to; needed for definitions that run on a host. */
  readonly hostId?: number | null
  /** Not before this time (milliseconds UTC). Until then it does not hold up later operations of its site. */
  readonly runAt?: number
  /** Who asked for it (JSON), handed to the steps for the records that they write. */
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
  if (onHost && options.hostId == null) throw new TypeError(`${definition.name} runs on a host: hostId is needed`)
  const { id } = await tx
    .insertInto('operations')
    .values({
      type: definition.name,
      runner: definition.on,
      host_id: onHost ? (options.hostId ?? null) : null,
      site_id: options.siteId ?? null,
      account_id: options.accountId ?? null,
      input: JSON.stringify(input),
      source: options.source === undefined ? null : JSON.stringify(options.source),
      state: 'queued',
      ending: null,
      cancel_requested: 0,
      attempts: 0,
      run_at: options.runAt ?? databaseNow(tx),
      lease_owner: null,
      lease_until: null,
      error: null,
      progress: 0,
      created_at: options.now ?? Date.now(),
      started_at: null,
      finished_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertSteps(tx, id, Object.keys(definition.steps))
  await announce(tx, 'operations', String(id))
  return id
}

function checkInput(definition: Definition<TSchema, never>, input: unknown): void {
  if (Value.Check(definition.input, input)) return
  const [fault] = Value.Errors(definition.input, input)
  throw new TypeError(`input of ${definition.name}: ${fault?.instancePath ?? ''} ${fault?.message ?? 'does not fit'}`)
}

async function insertSteps(tx: Tx, operationId: number, names: string[]): Promise<void> {
  const steps = names.map((name, position) => ({
    operation_id: operationId,
    position,
    name,
    state: 'pending' as const,
    attempts: 0,
    result: null,
    error: null,
    started_at: null,
    finished_at: null,
  }))
  if (steps.length > 0) await tx.insertInto('operation_steps').values(steps).execute()
}
