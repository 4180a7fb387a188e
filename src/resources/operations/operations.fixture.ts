import type { Scene } from '../../../test/support/samples.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { configureSite } from '../sites/switches/configure-site.job.ts'

/** @returns the ID of an operation of the site that is in this state */
export async function operationIn(
  state: 'queued' | 'succeeded' | 'failed',
  { api, owner, siteId }: Scene,
  type = configureSite,
): Promise<number> {
  return api.database.transaction(async (tx) => {
    const site = await tx.selectFrom('sites').select('host_id').where('id', '=', siteId).executeTakeFirstOrThrow()
    const target = { siteId, accountId: owner.accountId, hostId: site.host_id }
    const id = await enqueue(tx, type, { siteId }, { ...target, runAt: Date.now() + 86_400_000 })
    const finishedAt = state === 'queued' ? null : Date.now()
    await tx.updateTable('operations').set({ state, finished_at: finishedAt }).where('id', '=', id).execute()
    return id
  })
}
