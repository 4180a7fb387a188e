import { batches } from '../batches.ts'
import type { Tx } from '../db/database.ts'

/**
 * The result of an operation over many sites, or many things of a site, for one of them. All who may see the operation
 * can see it.
 */
export interface SiteResult {
  readonly siteId: number
  /** The thing of the site, or null for the site as a whole. */
  readonly subject?: string | null
  /** A word that the operation defines, such as `added`. */
  readonly outcome: string
  readonly message?: string | null
  /** The operation of that site that does the rest in the background. */
  readonly followUpId?: number | null
}

/**
 * Records results in the transaction of the work that they describe, so that an interrupted operation knows which sites
 * are done. Each site, and each thing of it, has one result.
 */
export async function recordResults(tx: Tx, operationId: number, results: readonly SiteResult[]): Promise<void> {
  const rows = results.map(({ siteId, subject, outcome, message = null, followUpId = null }) => ({
    operation_id: operationId,
    site_id: siteId,
    subject: subject ?? '',
    outcome,
    message,
    follow_up_id: followUpId,
  }))
  // SQLite accepts 32,766 values in a statement.
  for (const some of batches(rows, 1000)) await tx.insertInto('operation_results').values(some).execute()
}

/** Deletes a result, because the next attempt may end better. */
export async function forgetResult(
  tx: Tx,
  operationId: number,
  about: { siteId: number; subject: string },
): Promise<void> {
  await tx
    .deleteFrom('operation_results')
    .where('operation_id', '=', operationId)
    .where('site_id', '=', about.siteId)
    .where('subject', '=', about.subject)
    .execute()
}

/** Returns results in the order of site and subject. */
export async function resultsOfOperation(tx: Tx, operationId: number): Promise<Required<SiteResult>[]> {
  const rows = await tx
    .selectFrom('operation_results')
    .selectAll()
    .where('operation_id', '=', operationId)
    .orderBy('site_id')
    .orderBy('subject')
    .execute()
  return rows.map((row) => ({
    siteId: row.site_id,
    subject: row.subject || null,
    outcome: row.outcome,
    message: row.message,
    followUpId: row.follow_up_id,
  }))
}
