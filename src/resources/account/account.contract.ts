import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { moreSites, plan } from '../../../test/support/scenes.ts'

/** The owner of a scene is never the first account, which operates the installation. */
async function withoutAddons({ api }: Scene): Promise<() => unknown> {
  const set = (addons: 'operator' | 'all') => Object.assign(api.config, { addons })
  set('operator')
  return () => set('all')
}

async function withAddonInUse(scene: Scene): Promise<void> {
  await plan('Personal')(scene)
  expectDone(await scene.owner.call('PUT', '/v1/account/addons', { addon_id: 1, quantity: 1 }))
  await moreSites(3)(scene)
}

function expectDone({ status, body }: { status: number; body: unknown }): void {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getAccount', path: at('/v1/account') },
  { endpoint: 'updateAccount', path: at('/v1/account'), body: () => ({ php_version: '8.2' }) },
  { endpoint: 'listAddons', path: at('/v1/account/addons') },
  { endpoint: 'listAttachedAddons', path: at('/v1/account/addons/attached') },
  { endpoint: 'updateAddons', path: at('/v1/account/addons'), body: () => ({ addon_id: 1, quantity: 1 }) },
]

const examples: Examples = {
  updateAccount: () => ({ body: { php_version: '8.2' } }),
  updateAddons: () => ({ body: { addon_id: 1, quantity: 2 } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['updateAccount'], code: 'unknown_datacenter', example: () => ({ body: { datacenter_code: 'XXX' } }) },
  { of: ['updateAddons'], code: 'addon_in_use', example: () => ({ body: { addon_id: 1, quantity: 0 } }), prepare: withAddonInUse },
  { of: ['updateAddons'], code: 'addons_by_operator', prepare: withoutAddons },
]

export const contract: Contract = { samples, examples, problems }
