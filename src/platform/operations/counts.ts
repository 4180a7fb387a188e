import { sql } from 'kysely'
import type { Tx } from '../db/database.ts'
import type { OperationRow } from '../db/schema.ts'

export interface OperationCounts {
  /** The queued and running operations, and those that ended lately. Combinations with a count of zero are left out. */
  readonly counts: readonly {
    readonly state: OperationRow['state']
    readonly type: string
    readonly count: number
  }[]
  /** The operations that could begin but have not, by runner. */
  readonly due: readonly {
    readonly runner: OperationRow['runner']
    readonly count: number
    readonly oldestSeconds: number
  }[]
}

/** Operations that ended earlier do not count: the table keeps a month of them. */
const LATELY_MS = 3_600_000

/**
 * Counts operations without reading those that ended long ago. Two states are written into the query, because SQLite
 * uses their indexes only if it sees the state in the text.
 * @param now the database's clock, milliseconds UTC
 */
export async function operationCounts(tx: Tx, now: number): Promise<OperationCounts> {
  const all = tx
    .selectFrom('operations')
    .select(({ fn }) => ['state', 'type', fn.countAll<number>().as('count')])
    .groupBy(['state', 'type'])
  const [queued, running, ended, due] = await Promise.all([
    all.where(sql<boolean>`state = 'queued'`).execute(),
    all.where(sql<boolean>`state = 'running'`).execute(),
    all.where('finished_at', '>', now - LATELY_MS).execute(),
    tx
      .selectFrom('operations')
      .select(({ fn }) => ['runner', fn.countAll<number>().as('count'), fn.min('run_at').as('oldest')])
      .where(sql<boolean>`state = 'queued'`)
      .where('run_at', '<=', now)
      .groupBy('runner')
      .execute(),
  ])
  return {
    counts: [...queued, ...running, ...ended],
    due: due.map(({ runner, count, oldest }) => ({ runner, count, oldestSeconds: (now - oldest) / 1000 })),
  }
}

/** Returns the slot that each schedule last began, in milliseconds UTC. */
export async function lastSlots(tx: Tx): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.selectFrom('schedules').selectAll().execute()
  return new Map(rows.map(({ name, last_slot }) => [name, last_slot]))
}
