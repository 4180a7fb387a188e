import type { Tx } from '../db/database.ts'
import type { MetricReport } from '../metrics/part-metrics.ts'

/** What one process of Stead says of itself. */
export interface ProcessReport {
  /** Made anew at each start: `edge-3f09c1`. */
  readonly id: string
  readonly part: string
  readonly metrics: readonly MetricReport[]
}

/** A process that has not been heard of for so long is gone, or cannot be asked. */
const SILENT_MS = 60_000

/** @param now milliseconds UTC */
export async function reportProcess(tx: Tx, { id, part, ...facts }: ProcessReport, now: number): Promise<void> {
  const row = { facts: JSON.stringify(facts), seen_at: now }
  await tx
    .insertInto('processes')
    .values({ id, part, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/** All that were heard of lately; a time to come was written by a clock that has been put back since. */
export async function processReports(tx: Tx, now: number): Promise<ProcessReport[]> {
  const rows = await tx.selectFrom('processes').selectAll().orderBy('id').execute()
  return rows
    .filter(({ seen_at }) => Math.abs(now - seen_at) < SILENT_MS)
    .map(({ id, part, facts }) => {
      // an older Stead wrote something else
      const { metrics = [] } = JSON.parse(facts) as Partial<ProcessReport>
      return { id, part, metrics }
    })
}

/** Forgets a process that ends, and all that died without a word. */
export async function forgetProcess(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .deleteFrom('processes')
    .where((each) =>
      each.or([each('id', '=', id), each('seen_at', '<', now - SILENT_MS), each('seen_at', '>', now + SILENT_MS)]),
    )
    .execute()
}
