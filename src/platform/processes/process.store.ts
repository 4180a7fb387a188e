import type { Tx } from '../db/database.ts'
import type { MetricReport } from '../metrics/part-metrics.ts'

/** The report of one process of Stead. */
export interface ProcessReport {
  /** A new id at each start: `edge-3f09c1`. */
  readonly id: string
  readonly part: string
  readonly metrics: readonly MetricReport[]
}

/** A process that has been silent for this long is gone, or unreachable. */
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

/** Returns recent reports. A clock that was set back since may have written a future time. */
export async function processReports(tx: Tx, now: number): Promise<ProcessReport[]> {
  const rows = await tx.selectFrom('processes').selectAll().orderBy('id').execute()
  return rows
    .filter(({ seen_at }) => Math.abs(now - seen_at) < SILENT_MS)
    .map(({ id, part, facts }) => {
      // An older version wrote another form.
      const { metrics = [] } = JSON.parse(facts) as Partial<ProcessReport>
      return { id, part, metrics }
    })
}

/** Deletes a process that ends, and all that died without notice. */
export async function forgetProcess(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .deleteFrom('processes')
    .where((each) =>
      each.or([each('id', '=', id), each('seen_at', '<', now - SILENT_MS), each('seen_at', '>', now + SILENT_MS)]),
    )
    .execute()
}
