import type { TestApi } from '../../../../test/support/api.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { previewSync } from './preview-sync.job.ts'

/**
 * Creates the records of a preview of a sync, with its report.
 * @returns the id of the operation
 */
export async function syncPreviewIn(
  api: TestApi,
  { siteId, sourceId, accountId }: { readonly siteId: number; readonly sourceId: number; readonly accountId: number },
): Promise<number> {
  const report = { siteId, fromSiteId: sourceId, files: null, database: null }
  return api.database.transaction(async (tx) => {
    const site = await tx.selectFrom('sites').select('host_id').where('id', '=', siteId).executeTakeFirstOrThrow()
    const target = { siteId, accountId, hostId: site.host_id, runAt: Date.now() + 86_400_000 }
    const input = { siteId, sourceId, parts: [], database: true, backups: [], since: null }
    const id = await enqueue(tx, previewSync, input, target)
    const ended = { state: 'succeeded', finished_at: Date.now() } as const
    await tx.updateTable('operations').set(ended).where('id', '=', id).execute()
    await tx
      .updateTable('operation_steps')
      .set({ state: 'succeeded', result: JSON.stringify(report) })
      .where('operation_id', '=', id)
      .where('name', '=', 'report')
      .execute()
    return id
  })
}
