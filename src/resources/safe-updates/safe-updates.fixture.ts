import type { Tx } from '../../platform/db/database.ts'
import { beginBatch } from './batch/batch.store.ts'
import { setPolicyOfSite } from './policy/policy.store.ts'
import { usualSitePolicy } from './policy/policy.ts'
import { noteUndoneUpdate } from './policy/undone.store.ts'
import { beginReport, endReport, storeFindings, storePictures } from './safe-update.store.ts'
import { pictureKinds, type UpdatedPage } from './safe-update.ts'

export const comparedPage = (more: Partial<UpdatedPage> = {}): UpdatedPage => ({
  ...{ kind: 'cart', path: '/cart/', differences: ['status 200 became 500'], notes: [] },
  pictures: [{ width: 1280, different: 12.5, isDifferent: true }],
  before: { status: 200, title: 'Cart', ms: 120 },
  after: { status: 500, title: '', ms: 90 },
  ...more,
})

/** Stores the report of an update that was undone. */
export async function withUpdate(tx: Tx, siteId: number, operationId: number, now = Date.now()): Promise<void> {
  await beginReport(tx, operationId, siteId, now)
  await storeFindings(tx, operationId, {
    items: [
      {
        kind: 'plugin',
        name: 'forms',
        outcome: 'updated',
        from: '1.0',
        to: '2.0',
        message: 'Updated forms from 1.0 to 2.0',
      },
    ],
    pages: [comparedPage()],
    logged: [{ severity: 'Fatal error', message: 'Uncaught Error', kind: 'plugin', name: 'forms', counts: true }],
    noPictures: null,
  })
  await storePictures(
    tx,
    operationId,
    pictureKinds.map((kind) => ({ page: 0, width: 1280, kind, picture: '/9j/' })),
  )
  await endReport(tx, operationId, { state: 'undone', reason: 'The update was undone: /cart/', now })
}

/** Gives a site a policy, a turn, and a version that was undone. */
export async function withPolicy(tx: Tx, siteId: number, operationId: number, now = Date.now()): Promise<void> {
  await setPolicyOfSite(tx, siteId, { ...usualSitePolicy, mode: 'daily' }, now)
  const order = {
    siteId,
    plugins: [{ path: 'forms', version: '2.0', package: null }],
    themes: [],
    skipped: [],
    paths: [],
  }
  await noteUndoneUpdate(tx, { input: order, operationId, canceled: false, now: () => now }, [])
}

/** Stores a batch with one site, which waits. */
export async function withBatch(
  tx: Tx,
  id: number,
  accountId: number,
  siteId: number,
  now = Date.now(),
): Promise<void> {
  await tx.deleteFrom('safe_update_batches').where('operation_id', '=', id).execute()
  await tx.deleteFrom('safe_update_batch_sites').where('batch_id', '=', id).execute()
  const wish = { all: false, plugins: [{ path: 'forms' }], themes: [{ name: 'paper', version: '2.0' }] }
  await beginBatch(tx, { id, accountId, wish, siteIds: [siteId], now })
}
