import { type RawBuilder, sql } from 'kysely'
import { type Database, isPostgres, isUniqueViolation, type Tx } from '../../db/database.ts'
import type { Definitions } from '../definition.ts'
import { databaseNow, type Lease, type StoredOperation } from './lease.ts'
import { advance, changeStep, type OperationServices, type OperationState } from './operation-state.ts'
import { isAsSeen, type SeenLease } from './orphans.ts'

/** The worker that takes up operations, and the operations that it can take up. */
export interface Claimant {
  readonly owner: string
  readonly runner: 'control' | 'host'
  readonly hostId: number | null
  readonly definitions: Definitions
  /** The types that it takes up now, by default all. */
  readonly types?: readonly string[]
  readonly leaseMs: number
}

export interface ClaimedOperation {
  readonly lease: Lease
  readonly current: OperationState
}

export const inConcurrencyClass = ({
  runner,
  hostId,
  definitions,
  types = [...definitions.keys()],
}: Claimant): RawBuilder<boolean> =>
  sql<boolean>`o.runner = ${runner} and ${hostId === null ? sql`o.host_id is null` : sql`o.host_id = ${hostId}`}
    and o.type in (${sql.join([...types])})`

/**
 * Selects the oldest due operations that nothing holds up, at most one per site: none of its site is begun, and no
 * earlier one is due.
 * A delayed operation (never begun, `run_at` in the future) holds up nothing. One that waits for others does, and all
 * that it waits for are older. One that waits for its next attempt is begun, so it does too.
 * The order begins with `host_id`, which is the same for all. PostgreSQL does not derive that from `is null`, and would
 * read and sort the whole queue (15 ms with 4,000) instead of the index's beginning.
 */
const dueOperations = (tx: Tx, claimant: Claimant, most: number): RawBuilder<unknown> => sql`
  select o.id from operations o
  where o.state = 'queued' and ${inConcurrencyClass(claimant)} and o.run_at <= ${databaseNow(tx)}
    and (o.site_id is null or o.started_at is not null or (
      not exists (select 1 from operations b
        where b.site_id = o.site_id and b.started_at is not null and b.finished_at is null)
      and not exists (select 1 from operations e
        where e.site_id = o.site_id and e.state = 'queued' and e.id < o.id and e.run_at <= ${databaseNow(tx)})))
    and not exists (select 1 from operation_waits w join operations p on p.id = w.for_id
      where w.operation_id = o.id and p.finished_at is null)
  order by o.host_id, o.run_at, o.id limit ${most}`

/** Selects operations whose worker has died, unless another worker has taken them up since. */
const orphanedOperations = (orphans: readonly SeenLease[], most: number): RawBuilder<unknown> => sql`
  select o.id from operations o
  where o.state = 'running' and (${sql.join(orphans.map(isAsSeen), sql` or `)})
  order by o.id limit ${most}`

/** Whether there is an operation to take up. */
export interface Outlook {
  readonly due: boolean
  /** Milliseconds until the next operation is due, if one is queued for later. */
  readonly waitMs: number | undefined
}

/** Reads, without any lock, whether there is an operation to take up. */
export async function lookOut(tx: Tx, claimant: Claimant): Promise<Outlook> {
  const { rows } = await sql<{ due: number | null; wait: number | null }>`
    select (${dueOperations(tx, claimant, 1)}) as due,
      (select min(o.run_at) - ${databaseNow(tx)} from operations o
        where o.state = 'queued' and ${inConcurrencyClass(claimant)} and o.run_at > ${databaseNow(tx)}) as wait`.execute(
    tx,
  )
  const { due, wait } = rows[0] as { due: number | null; wait: number | null }
  return { due: due !== null, waitMs: wait === null ? undefined : Math.max(1, wait) }
}

/**
 * Takes up at most `most` operations, and records the beginning of their next steps.
 * @param orphans operations whose worker has died
 */
export async function claimOperations(
  database: Database,
  claimant: Claimant,
  operationServices: OperationServices,
  { most, orphans }: { most: number; orphans: readonly SeenLease[] },
): Promise<ClaimedOperation[]> {
  const claimAtOnce = (count: number) =>
    database.transaction(async (tx) => {
      const now = operationServices.clock()
      const taken = orphans.length > 0 ? await takeUp(tx, claimant, orphanedOperations(orphans, count), now) : []
      const left = count - taken.length
      if (left > 0) taken.push(...(await takeUp(tx, claimant, dueOperations(tx, claimant, left), now)))
      return taken.length > 0 ? beginWork(tx, claimant, taken, operationServices) : []
    })
  try {
    return await claimAtOnce(most)
  } catch (error) {
    // Another worker has just begun an operation of the same site. The index allows only one of the two.
    if (!isUniqueViolation(error)) throw error
    return claimAtOnce(1)
  }
}

async function takeUp(
  tx: Tx,
  { owner, leaseMs }: Claimant,
  candidates: RawBuilder<unknown>,
  now: number,
): Promise<StoredOperation[]> {
  // Materialized candidates are for PostgreSQL, which could run a plain subquery, and lock its rows, more than once.
  const skipLocked = isPostgres(tx) ? sql`for update skip locked` : sql``
  const { rows } = await sql<StoredOperation>`
    with candidates as materialized (${candidates} ${skipLocked})
    update operations set state = 'running', attempts = attempts + 1, lease_owner = ${owner},
      lease_until = ${databaseNow(tx)} + ${leaseMs}, started_at = coalesce(started_at, ${now})
    where id in (select id from candidates)
    returning *`.execute(tx)
  return rows
}

async function beginWork(
  tx: Tx,
  { owner, leaseMs, definitions }: Claimant,
  operations: StoredOperation[],
  operationServices: OperationServices,
): Promise<ClaimedOperation[]> {
  const ids = operations.map(({ id }) => id)
  const allSteps = await tx
    .selectFrom('operation_steps')
    .selectAll()
    .where('operation_id', 'in', ids)
    .orderBy('operation_id')
    .orderBy('position')
    .execute()
  const stepsOf = Map.groupBy(allSteps, (step) => step.operation_id)
  const claimed: ClaimedOperation[] = []
  for (const operation of operations.toSorted((a, b) => a.id - b.id)) {
    const current: OperationState = { operation, steps: stepsOf.get(operation.id) ?? [] }
    // A step that was running when its worker died begins again.
    for (const { state, position } of current.steps)
      if (state === 'running') await changeStep(tx, current, position, { state: 'pending' })
    const definition = definitions.get(operation.type)
    if (!definition) throw new Error(`no definition of ${operation.type}`)
    const lease = { operationId: operation.id, owner, fence: operation.attempts, durationMs: leaseMs }
    claimed.push({ lease, current: await advance(tx, current, definition, operationServices) })
  }
  return claimed
}
