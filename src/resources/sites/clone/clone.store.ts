import type { Tx } from '../../../platform/db/database.ts'

/** The type of the operation, as its definition names it. */
const CLONE = 'site.clone'

/** Returns the first unfinished operation that copies a site. */
export async function operationThatClones(tx: Tx, siteId: number): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('operations')
    .select(['id', 'input'])
    .where('state', 'in', ['queued', 'running'])
    .where('type', '=', CLONE)
    .orderBy('id')
    .execute()
  return rows.find(({ input }) => (JSON.parse(input) as { sourceId: number }).sourceId === siteId)?.id
}
