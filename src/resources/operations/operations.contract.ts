import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { at, type Example, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { friend, friendHas, isProvisioning, operationThatHas } from '../../../test/support/scenes.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { setPaused } from '../../platform/operations/pause.ts'
import { drainHostJob } from '../installation/hosts/drain-host.job.ts'
import { purgeSite } from '../sites/remove/remove-site.job.ts'
import { operationIn } from './operations.fixture.ts'

async function queued(scene: Scene): Promise<Example> {
  return { params: { id: await operationIn('queued', scene) } }
}

/** A drain of the owner that waits. */
const drainThat =
  ({ isPaused }: { readonly isPaused: boolean }) =>
  async ({ api, owner: { accountId } }: Scene): Promise<Example> => ({
    params: {
      id: await api.database.transaction(async (tx) => {
        const id = await enqueue(tx, drainHostJob, { host: 'elsewhere' }, { accountId, afterMs: 86_400_000 })
        if (isPaused) await setPaused(tx, id, 1)
        return id
      }),
    },
  })

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listOperations', path: at('/v1/operations') },
  { endpoint: 'getOperation', path: (world) => `/v1/operations/${world.waiting}`, roles: [] },
  { endpoint: 'watchOperation', path: (world) => `/v1/operations/${world.failed}/events`, roles: [] },
  { endpoint: 'cancelOperation', path: (world) => `/v1/operations/${world.waiting}/cancel`, roles: ['create_collaborator'] },
  // Moves of many sites belong to the operator.
  { endpoint: 'pauseOperation', path: (world) => `/v1/operations/${world.waiting}/pause`, roles: ['create_collaborator'], status: 400 },
  { endpoint: 'continueOperation', path: (world) => `/v1/operations/${world.waiting}/continue`, roles: ['create_collaborator'], status: 400 },
  { endpoint: 'retryOperation', path: (world) => `/v1/operations/${world.failed}/retry`, roles: ['create_collaborator'] },
]

const examples: Examples = {
  getOperation: queued,
  cancelOperation: queued,
  pauseOperation: drainThat({ isPaused: false }),
  continueOperation: drainThat({ isPaused: true }),
  watchOperation: async (scene) => ({ params: { id: await operationIn('succeeded', scene) } }),
  retryOperation: async (scene) => ({ params: { id: await operationIn('failed', scene) } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['cancelOperation'], code: 'operation_must_end', example: operationThatHas('queued', purgeSite) },
  { of: ['cancelOperation'], code: 'operation_not_cancelable', example: operationThatHas('succeeded') },
  { of: ['pauseOperation', 'continueOperation'], code: 'operation_not_pausable', example: operationThatHas('queued') },
  { of: ['retryOperation'], code: 'operation_not_retryable', example: operationThatHas('queued') },
  { of: ['cancelOperation', 'retryOperation'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['pauseOperation', 'continueOperation'], code: 'forbidden', example: queued, prepare: friendHas('[]'), by: friend },
  { of: ['cancelOperation', 'retryOperation'], code: 'operation_not_yours', prepare: isProvisioning, by: friend },
  { of: ['pauseOperation', 'continueOperation'], code: 'operation_not_yours', example: queued, prepare: isProvisioning, by: friend },
  { of: ['watchOperation'], code: 'too_many_streams', on: 'strict' },
]

export const contract: Contract = { samples, examples, problems }
