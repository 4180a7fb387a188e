import type { TestApi } from '../../../test/support/api.ts'
import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  unique,
  type World,
} from '../../../test/support/samples.ts'
import { EMPTY_DATACENTER, fillOperations, friend, moreSites, plan, siteIs } from '../../../test/support/scenes.ts'
import { insertRemoval } from '../account/removal.store.ts'
import { syncPreviewIn } from '../backups/sync/sync-preview.fixture.ts'
import { insertLink } from './environment.store.ts'
import { MOST_ENVIRONMENTS } from './environment.ts'

const link = (api: TestApi, siteId: number, liveSiteId: number) =>
  api.database.transaction((tx) => insertLink(tx, { siteId, liveSiteId, copiedAt: 1, now: 1 }))

/** The owner's other site is an environment, which the helper can see, too. */
async function linkHidden({ site, hidden, helper }: World, api: TestApi): Promise<void> {
  await link(api, hidden, site)
  await api.collaborate(helper, hidden, ['download_backups', 'restore_site'])
}

/** @returns the ID of another site of the owner */
const otherSite = ({ api, owner, number }: Scene) => api.site(owner, `other-${number}-${unique()}`)

async function environmentOf(scene: Scene): Promise<number> {
  const id = await otherSite(scene)
  await link(scene.api, id, scene.siteId)
  return id
}

const linked =
  (body?: Record<string, unknown>) =>
  async (scene: Scene): Promise<Example> => ({
    params: { environment_id: await environmentOf(scene) },
    ...(body && { body }),
  })

/** An environment on which the friend has no right. */
async function barred(scene: Scene): Promise<Example> {
  const id = await environmentOf(scene)
  await scene.api.collaborate(scene.friend, id, [])
  return { params: { environment_id: id }, body: { preset: 'code' } }
}

/** Work waits on the environment, which the pull would overwrite. */
async function pullOfBusy(scene: Scene): Promise<Example> {
  const id = await environmentOf(scene)
  await fillOperations({ ...scene, siteId: id })
  return { params: { environment_id: id }, body: { preset: 'code' } }
}

async function previewed(scene: Scene): Promise<Example> {
  const { api, siteId, owner } = scene
  const id = await environmentOf(scene)
  const operation = await syncPreviewIn(api, { siteId, sourceId: id, accountId: owner.accountId })
  return { params: { environment_id: id, operation_id: operation } }
}

async function previewedBarred(scene: Scene): Promise<Example> {
  const example = await previewed(scene)
  await scene.api.collaborate(scene.friend, Number(example.params?.environment_id), [])
  return example
}

async function fillEnvironments(scene: Scene): Promise<void> {
  for (let index = 0; index < MOST_ENVIRONMENTS; index++) await environmentOf(scene)
}

const leavingOwner = ({ api, owner: { accountId } }: Scene) =>
  api.database.transaction((tx) =>
    insertRemoval(tx, { accountId, wasSuspended: false, askedAt: 1, dueAt: 1, begunAt: null }),
  )

const inHidden = (rest: string) => (world: World) => onSite(`/environments/${world.hidden}${rest}`)(world)
let preview = 0

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listEnvironments', path: onSite('/environments'), roles: [] },
  { endpoint: 'listAllEnvironments', path: ({ site }) => `/v1/environments?site_ids=${site}` },
  { endpoint: 'createEnvironment', path: onSite('/environments'), body: () => ({ name: `environment-${unique()}` }), roles: ['clone_site'] },
  { endpoint: 'unlinkEnvironment', prepare: linkHidden, path: inHidden(''), roles: ['clone_site'] },
  { endpoint: 'pushEnvironment', prepare: linkHidden, path: inHidden('/push'), body: () => ({ preset: 'code' }), roles: ['restore_site'] },
  { endpoint: 'pullEnvironment', prepare: linkHidden, path: inHidden('/pull'), body: () => ({ preset: 'code' }), roles: ['download_backups'] },
  { endpoint: 'getEnvironmentPreview', prepare: async (world, api) => { await linkHidden(world, api); preview = await syncPreviewIn(api, { siteId: world.hidden, sourceId: world.site, accountId: world.owner.accountId }) }, path: (world) => inHidden(`/previews/${preview}`)(world), isPrivate: true },
]

const examples: Examples = {
  async listAllEnvironments(scene) {
    await environmentOf(scene)
    return { query: { site_ids: String(scene.siteId) } }
  },
  createEnvironment: ({ number }) => ({ body: { name: `environment-${number}-${unique()}` } }),
  unlinkEnvironment: linked(),
  pushEnvironment: linked({ preset: 'everything' }),
  pullEnvironment: linked({ preset: 'chosen', folders: ['themes'], tables: ['wp_posts'] }),
  getEnvironmentPreview: previewed,
}

/** Another site to link, instead of a copy. */
const linking = (prepare: (scene: Scene, id: number) => Promise<unknown>) => async (scene: Scene) => {
  const id = await otherSite(scene)
  await prepare(scene, id)
  return { body: { site_id: id } }
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createEnvironment'], code: 'environment_limit_reached', prepare: fillEnvironments },
  { of: ['createEnvironment'], code: 'environment_not_possible', example: linking(async (scene, id) => link(scene.api, id, await otherSite(scene))) },
  { of: ['createEnvironment'], code: 'account_leaving', prepare: leavingOwner },
  { of: ['createEnvironment'], code: 'name_taken', example: ({ number }) => ({ body: { name: `Scene-${number}` } }) },
  { of: ['createEnvironment'], code: 'name_reserved', example: () => ({ body: { name: 'Panel' } }) },
  { of: ['createEnvironment'], code: 'plan_lacks_multisite', prepare: async (scene) => { await plan('Business')(scene); await siteIs({ multisite: 1 })(scene) } },
  { of: ['createEnvironment'], code: 'unknown_datacenter', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: 'XXX' } }) },
  { of: ['createEnvironment'], code: 'clone_elsewhere', example: ({ number }) => ({ body: { name: `far-${number}`, datacenter_code: EMPTY_DATACENTER } }) },
  { of: ['createEnvironment'], code: 'no_host', prepare: siteIs({ host_id: null }) },
  { of: ['createEnvironment'], code: 'site_limit_reached', example: ({ number }) => ({ body: { name: `live-${number}`, staging: false } }), prepare: async (scene) => { await plan('Personal')(scene); await moreSites(2)(scene) } },
  { of: ['createEnvironment'], code: 'forbidden', example: linking(({ api, friend: by }, id) => api.collaborate(by, id, [])), by: friend },
  { of: ['pushEnvironment', 'pullEnvironment'], code: 'environment_of_nothing', example: linked({ preset: 'chosen' }) },
  { of: ['pushEnvironment', 'pullEnvironment'], code: 'sync_unlike_sites', example: linked({ preset: 'everything' }), prepare: siteIs({ multisite: 1 }) },
  { of: ['createEnvironment', 'pushEnvironment', 'pullEnvironment'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['pullEnvironment'], code: 'operation_limit_reached', example: pullOfBusy },
  { of: ['pushEnvironment', 'pullEnvironment'], code: 'forbidden', example: barred, by: friend },
  { of: ['getEnvironmentPreview'], code: 'forbidden', example: previewedBarred, by: friend },
]

export const contract: Contract = {
  samples,
  examples,
  problems,
  events: { createEnvironment: ['environment_linked'], unlinkEnvironment: ['environment_unlinked'] },
}
