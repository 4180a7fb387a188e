import { type RawBuilder, sql } from 'kysely'
import { type Database, isPostgres, isUniqueViolation, type Tx } from '../db/database.ts'
import type { Definitions } from './definition.ts'
import { databaseNow, type Lease, type StoredOperation } from './lease.ts'
import { goOn, type Standing, type Surroundings } from './standing.ts'

/** What a worker can take up, and in whose name. */
export interface Claimant {
  readonly owner: string
  readonly runner: 'control' | 'host'
  readonly hostId: number | null
  readonly definitions: Definitions
  readonly leaseMs: number
}

export interface Claimed {
  readonly lease: Lease
  readonly standing: Standing
}

const ofLane = ({ runner, hostId, definitions }: Claimant): RawBuilder<boolean> =>
  sql<boolean>`o.runner = ${runner} and ${hostId === null ? sql`o.host_id is null` : sql`o.host_id = ${hostId}`}
    and o.type in (${sql.join([...definitions.keys()])})`

/**
 * The oldest due operation that nothing holds up: of its site, none is begun and no earlier one is due. A delayed
 * operation (never begun, `run_at` to come) holds up nothing; one that waits for its next attempt is begun, and does.
 */
const dueOperation = (tx: Tx, claimant: Claimant): RawBuilder<unknown> => sql`
  select o.id from operations o
  where o.state = 'queued' and ${ofLane(claimant)} and o.run_at <= ${databaseNow(tx)}
    and (o.site_id is null or o.started_at is not null or (
      not exists (select 1 from operations b
        where b.site_id = o.site_id and b.started_at is not null and b.finished_at is null)
      and not exists (select 1 from operations e
        where e.site_id = o.site_id and e.state = 'queued' and e.id < o.id and e.run_at <= ${databaseNow(tx)})))
  order by o.run_at, o.id limit 1`

/** An operation whose worker has not been heard of for the length of its lease. */
const orphanedOperation = (tx: Tx, claimant: Claimant): RawBuilder<unknown> => sql`
  select o.id from operations o
  where o.state = 'running' and ${ofLane(claimant)} and o.lease_until < ${databaseNow(tx)}
  order by o.id limit 1`

/** What there is to take up. */
export interface Outlook {
  readonly due: boolean
  readonly orphan: boolean
  /** Until the next operation is due, where one is queued for later. */
  readonly waitMs: number | undefined
}

/** Reads, without any lock, whether there is something to take up. */
export async function lookOut(tx: Tx, claimant: Claimant): Promise<Outlook> {
  const { rows } = await sql<{ due: number | null; orphan: number | null; wait: number | null }>`
    select (${dueOperation(tx, claimant)}) as due, (${orphanedOperation(tx, claimant)}) as orphan,
      (select min(o.run_at) - ${databaseNow(tx)} from operations o
        where o.state = 'queued' and ${ofLane(claimant)} and o.run_at > ${databaseNow(tx)}) as wait`.execute(tx)
  const { due, orphan, wait } = rows[0] ?? { due: null, orphan: null, wait: null }
  return { due: due !== null, orphan: orphan !== null, waitMs: wait === null ? undefined : Math.max(1, wait) }
}

/**
 * Takes up to `most` operations up, and records the beginning of their next steps.
 * @param orphans look also for operations whose worker has died
 */
export async function claim(
  database: Database,
  claimant: Claimant,
  surroundings: Surroundings,
  { most, orphans }: { most: number; orphans: boolean },
): Promise<Claimed[]> {
  const kinds = orphans ? [orphanedOperation, dueOperation] : [dueOperation]
  const claimAtOnce = (count: number) =>
    database.transaction(async (tx) => {
      const claimed: Claimed[] = []
      for (const kind of kinds) {
        while (claimed.length < count) {
          const operation = await takeUp(tx, claimant, kind(tx, claimant), surroundings.clock())
          if (!operation) break
          claimed.push(await beginWork(tx, claimant, operation, surroundings))
        }
      }
      return claimed
    })
  try {
    return await claimAtOnce(most)
  } catch (error) {
    // another worker has begun an operation of the same site in this moment: the index let only one of the two through
    if (!isUniqueViolation(error)) throw error
    return claimAtOnce(1)
  }
}

async function takeUp(
  tx: Tx,
  { owner, leaseMs }: Claimant,
  candidate: RawBuilder<unknown>,
  now: number,
): Promise<StoredOperation | undefined> {
  // on PostgreSQL a materialized candidate: as a plain subquery it could be looked for, and locked, more than once
  const skipLocked = isPostgres(tx) ? sql`for update skip locked` : sql``
  const { rows } = await sql<StoredOperation>`
    with candidate as materialized (${candidate} ${skipLocked})
    update operations set state = 'running', attempts = attempts + 1, lease_owner = ${owner},
      lease_until = ${databaseNow(tx)} + ${leaseMs}, started_at = coalesce(started_at, ${now})
    where id = (select id from candidate)
    returning *`.execute(tx)
  return rows[0]
}

async function beginWork(
  tx: Tx,
  { owner, leaseMs, definitions }: Claimant,
  operation: StoredOperation,
  surroundings: Surroundings,
): Promise<Claimed> {
  const steps = await tx
    .selectFrom('operation_steps')
    .selectAll()
    .where('operation_id', '=', operation.id)
    .orderBy('position')
    .execute()
  // what was running when its worker died begins again
  for (const step of steps.filter(({ state }) => state === 'running')) {
    step.state = 'pending'
    await tx
      .updateTable('operation_steps')
      .set({ state: 'pending' })
      .where('operation_id', '=', step.operation_id)
      .where('position', '=', step.position)
      .execute()
  }
  const definition = definitions.get(operation.type)
  if (!definition) throw new Error(`no definition of ${operation.type}`)
  const standing = await goOn(tx, { operation, steps }, definition, surroundings)
  const lease = { operationId: operation.id, owner, fence: operation.attempts, durationMs: leaseMs }
  return { lease, standing }
}
