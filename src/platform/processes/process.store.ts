import type { Tx } from '../db/database.ts'
import type { MetricReport } from '../metrics/part-metrics.ts'

/** The report of one process of Stead. */
export interface ProcessReport {
  /** A new id at each start: `edge-3f09c1`. */
  readonly id: string
  readonly part: string
  readonly metrics: readonly MetricReport[]
  /** The serial number of its certificate for connections to other machines, if it has one. */
  readonly serial?: string | undefined
}

/** A process that has been silent for this long is gone, or unreachable. */
const SILENT_MS = 60_000

/** @param now milliseconds UTC */
export async function reportProcess(tx: Tx, { id, part, serial, metrics }: ProcessReport, now: number): Promise<void> {
  const row = { facts: JSON.stringify({ metrics }), seen_at: now, certificate_serial: serial ?? null }
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

/** Returns whether an edge runs that has no certificate: one of an earlier version. */
export async function isUncertifiedEdgeRunning(tx: Tx, now: number): Promise<boolean> {
  const found = await tx
    .selectFrom('processes')
    .select('id')
    .where('part', '=', 'edge')
    .where('certificate_serial', 'is', null)
    .where('seen_at', '>', now - SILENT_MS)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
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
