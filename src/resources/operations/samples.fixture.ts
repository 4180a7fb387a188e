import { at, type Example, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { configureSite } from '../sites/switches/configure-site.job.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listOperations', path: at('/v1/operations') },
  { endpoint: 'getOperation', path: (world) => `/v1/operations/${world.waiting}`, roles: [] },
  { endpoint: 'watchOperation', path: (world) => `/v1/operations/${world.failed}/events`, roles: [] },
  { endpoint: 'cancelOperation', path: (world) => `/v1/operations/${world.waiting}/cancel`, roles: ['create_collaborator'] },
  { endpoint: 'retryOperation', path: (world) => `/v1/operations/${world.failed}/retry`, roles: ['create_collaborator'] },
]

export const examples: Examples = {
  getOperation: queued,
  cancelOperation: queued,
  watchOperation: async (scene) => ({ params: { id: await operationIn('succeeded', scene) } }),
  retryOperation: async (scene) => ({ params: { id: await operationIn('failed', scene) } }),
}

async function queued(scene: Scene): Promise<Example> {
  return { params: { id: await operationIn('queued', scene) } }
}

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
