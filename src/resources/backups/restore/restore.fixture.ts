import type { TestApi } from '../../../../test/support/api.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { setBackupOperation } from '../backup.store.ts'
import { backupIn } from '../backups.fixture.ts'
import { previewRestore } from './preview-restore.job.ts'
import type { RestoreOrder } from './restore.ts'
import { restoreSite } from './restore-site.job.ts'

const order = (siteId: number, askedById: number, more: Partial<RestoreOrder> = {}): RestoreOrder => ({
  siteId,
  sourceId: siteId,
  filesId: null,
  databaseId: 1,
  askedById,
  ...more,
})

/**
 * Creates the records of a restore that was done, and of its undo points.
 * @returns the id of the operation
 */
export async function restoredIn(
  api: TestApi,
  site: { readonly siteId: number; readonly accountId: number },
  { kept = true, state = 'succeeded' as 'succeeded' | 'running' | 'failed', more = {} as Partial<RestoreOrder> } = {},
): Promise<number> {
  const id = await operationIn(api, site, restoreSite, { state, more })
  if (kept) {
    const point = await backupIn(api, site.siteId, { origin: 'undo' })
    await api.database.transaction((tx) => setBackupOperation(tx, point, id))
  }
  return id
}

/**
 * Creates the records of a restore preview with its result.
 * @returns the id of the operation
 */
export async function previewIn(
  api: TestApi,
  site: { readonly siteId: number; readonly accountId: number },
): Promise<number> {
  const id = await operationIn(api, site, previewRestore)
  const { siteId } = site
  const report = { siteId, files: null, database: { takenAt: '2026-01-31T09:30:00.000Z', counts: [], newest: [] } }
  await api.database.transaction((tx) =>
    tx
      .updateTable('operation_steps')
      .set({ state: 'succeeded', result: JSON.stringify(report) })
      .where('operation_id', '=', id)
      .where('name', '=', 'report')
      .execute(),
  )
  return id
}

async function operationIn(
  api: TestApi,
  { siteId, accountId }: { readonly siteId: number; readonly accountId: number },
  type: typeof restoreSite | typeof previewRestore,
  { state = 'succeeded' as 'succeeded' | 'running' | 'failed', more = {} as Partial<RestoreOrder> } = {},
): Promise<number> {
  return api.database.transaction(async (tx) => {
    const site = await tx.selectFrom('sites').select('host_id').where('id', '=', siteId).executeTakeFirstOrThrow()
    const target = { siteId, accountId, hostId: site.host_id, runAt: Date.now() + 86_400_000 }
    const id = await enqueue(tx, type, order(siteId, accountId, more), target)
    const finished_at = state === 'running' ? null : Date.now()
    // It appears running to callers, but no worker runs it.
    const how = state === 'running' ? 'queued' : state
    await tx.updateTable('operations').set({ state: how, finished_at }).where('id', '=', id).execute()
    return id
  })
}
