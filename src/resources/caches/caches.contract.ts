import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { aboutSite, answer, change, refuse } from '../../../test/support/job-worlds.ts'
import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { changeSite } from '../sites/site.store.ts'

const uninstall = (world: JobWorld) =>
  change(world, (tx) => tx.updateTable('sites').set({ written_address: null }).where('id', '=', world.site).execute())

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getEdgeCache', path: onSite('/edge-cache'), roles: [] },
  { endpoint: 'toggleEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { endpoint: 'purgeEdgeCache', path: onSite('/edge-cache'), roles: ['manage_performance'] },
  { endpoint: 'setDefensiveMode', path: onSite('/edge-cache/defensive-mode'), roles: ['manage_performance'], body: () => ({ duration: '2-days' }) },
  { endpoint: 'purgeCdn', path: onSite('/cache'), roles: ['manage_performance'] },
  { endpoint: 'getCdn', path: onSite('/cdn'), roles: [] },
  { endpoint: 'enableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'disableCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'toggleCdn', path: onSite('/cdn'), roles: ['manage_performance'] },
  { endpoint: 'purgeObjectCache', path: onSite('/object-cache'), roles: ['manage_performance'] },
]

const examples: Examples = {
  setDefensiveMode: () => ({ body: { duration: '1-hour' } }),
  enableCdn: async ({ owner, siteId }) => {
    await owner.call('DELETE', `/v1/sites/${siteId}/cdn`)
    return {}
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['purgeObjectCache'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['purgeObjectCache'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['purgeObjectCache'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
  { of: ['setDefensiveMode'], code: 'edge_cache_off', example: () => ({ body: { duration: '2-days' } }), prepare: siteIs({ edge_cache: 0 }) },
]

const events: Contract['events'] = {
  toggleEdgeCache: ['disabled_edge_cache'],
  purgeEdgeCache: ['purged_edge_cache'],
  setDefensiveMode: ['edge_cache_defensive_mode_toggled'],
}

const causes: Contract['causes'] = {
  enabled_edge_cache: { cause: 'toggleEdgeCache', seenIn: 'src/resources/caches/edge-cache.test.ts' },
  disabled_edge_cache: { cause: 'toggleEdgeCache', seenIn: 'src/resources/caches/edge-cache.test.ts' },
}

const jobs: Record<string, JobSample> = {
  'site.flush_object_cache': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'site.flush_object_cache', says: 'The site is not installed yet', wrong: uninstall },
  { type: 'site.flush_object_cache', says: 'not today', wrong: (world) => answer(world, 'flush-object-cache', refuse) },
]

export const contract: Contract = { samples, examples, problems, events, causes, jobs, jobRefusals }
