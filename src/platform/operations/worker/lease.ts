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

/** The operation is no longer this worker's: nothing of what it did since may be written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** An operation as read. */
export type StoredOperation = Selectable<OperationRow>

/**
 * Milliseconds UTC by the clock that all workers share, so that machines whose clocks differ agree on leases and due
 * times: PostgreSQL's own, the machine's where SQLite keeps everything on one.
 */
export function databaseNow(tx: Tx): RawBuilder<number> {
  // statement_timestamp() is stable, unlike clock_timestamp(): the planner can use it as a bound of an index
  return isPostgres(tx)
    ? sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`
    : sql<number>`${Date.now()}`
}

/** The same, asked for. */
export async function readDatabaseTime(database: Database): Promise<number> {
  if (!isPostgres(database.read)) return Date.now()
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database.read)} as now`.execute(database.read)
  return Number(rows[0]?.now)
}

/**
 * The fence: first statement of each transaction in which a worker writes about an operation. Moves the lease on, and locks
 * the row, so that nobody takes the operation over before the transaction ends.
 * @throws LeaseLost when the operation is not this worker's any more
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

/** What a heartbeat finds out. */
export interface Heartbeat {
  readonly lost: Lease[]
  readonly canceled: Lease[]
}

/** Moves all the given leases on by their duration. */
export async function renewLeases(
  tx: Tx,
  owner: string,
  leases: readonly Lease[],
  durationMs: number,
): Promise<Heartbeat> {
  const ids = leases.map(({ operationId }) => operationId)
  // a row that is locked is in a transaction of its own worker (or of one who takes it over): waiting for a long one
  // would let the other leases run out
  const unlocked = isPostgres(tx)
    ? sql<number>`(select id from operations where id in (${sql.join(ids)}) order by id for update skip locked)`
    : sql<number>`(${sql.join(ids)})`
  await sql`update operations set lease_until = ${databaseNow(tx)} + ${durationMs}
    where id in ${unlocked} and lease_owner = ${owner} and state = 'running'`.execute(tx)
  return checkLeases(tx, owner, leases)
}

/** Finds out which of the leases are lost, and which operations somebody asked to cancel. Writes nothing. */
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
      return row?.cancel_requested === 1 && row.ending === null
    }),
  }
}
