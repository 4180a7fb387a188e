import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Database, isPostgres, type Tx } from '../../db/database.ts'
import type { OperationRow } from '../../db/schema.ts'

/** A worker's right to one operation. */
export interface Lease {
  readonly operationId: number
  readonly owner: string
  /** How often the operation had been taken up, this time included. */
  readonly fence: number
  readonly durationMs: number
}

/** This worker no longer holds the operation. It must not write any of its work since then. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** An operation as read. */
export type StoredOperation = Selectable<OperationRow>

/**
 * Returns milliseconds UTC by the clock that all workers share, so that machines with different clocks agree on leases
 * and due times. That is PostgreSQL's own clock, or the machine's for SQLite, where everything is on one machine.
 */
export function databaseNow(tx: Tx): RawBuilder<number> {
  // Unlike clock_timestamp(), statement_timestamp() is stable: the planner can use it as a bound of an index.
  return isPostgres(tx)
    ? sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`
    : sql<number>`${Date.now()}`
}

/** Reads this time from the database. */
export async function readDatabaseTime(database: Database): Promise<number> {
  if (!isPostgres(database.read)) return Date.now()
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database.read)} as now`.execute(database.read)
  return Number(rows[0]?.now)
}

/**
 * Extends the lease and locks the row, so that no other worker takes the operation over before the transaction ends.
 * This is the fence: the first statement of each transaction in which a worker writes about an operation.
 * @throws LeaseLost when this worker no longer holds the operation
 */
export async function holdLease(
  tx: Tx,
  lease: Lease,
  changes: Partial<Pick<OperationRow, 'progress'>> = {},
): Promise<StoredOperation> {
  const row = await tx
    .updateTable('operations')
    .set({ lease_until: sql<number>`${databaseNow(tx)} + ${lease.durationMs}`, ...changes })
    .where('id', '=', lease.operationId)
    .where('lease_owner', '=', lease.owner)
    .where('attempts', '=', lease.fence)
    .where('state', '=', 'running')
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new LeaseLost(`operation ${lease.operationId} is no longer held by this worker`)
  return row
}

/** The findings of a heartbeat. */
export interface Heartbeat {
  readonly lost: Lease[]
  readonly canceled: Lease[]
}

/** Extends all given leases by their duration. */
export async function renewLeases(
  tx: Tx,
  owner: string,
  leases: readonly Lease[],
  durationMs: number,
): Promise<Heartbeat> {
  const ids = leases.map(({ operationId }) => operationId)
  // A locked row is in a transaction of its own worker, or of one that takes it over. While this waited for a long one,
  // the other leases would expire.
  const unlocked = isPostgres(tx)
    ? sql<number>`(select id from operations where id in (${sql.join(ids)}) order by id for update skip locked)`
    : sql<number>`(${sql.join(ids)})`
  await sql`update operations set lease_until = ${databaseNow(tx)} + ${durationMs}
    where id in ${unlocked} and lease_owner = ${owner} and state = 'running'`.execute(tx)
  return checkLeases(tx, owner, leases)
}

/** Finds out which leases are lost, and which operations have a cancel request. Writes nothing. */
export async function checkLeases(tx: Tx, owner: string, leases: readonly Lease[]): Promise<Heartbeat> {
  const ids = leases.map(({ operationId }) => operationId)
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'attempts', 'cancel_requested', 'ending'])
    .where('id', 'in', ids)
    .where('lease_owner', '=', owner)
    .execute()
  const held = new Map(rows.map((row) => [row.id, row]))
  const isHeld = (lease: Lease) => held.get(lease.operationId)?.attempts === lease.fence
  return {
    lost: leases.filter((lease) => !isHeld(lease)),
    canceled: leases.filter((lease) => {
      const row = held.get(lease.operationId)
      return row !== undefined && row.cancel_requested !== 0 && row.ending === null
    }),
  }
}
