import { expect } from 'vitest'
import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { aboutSite, change } from '../../../test/support/job-worlds.ts'
import { type Example, type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { changeSite } from '../sites/site.store.ts'
import { insertLicense } from './license.store.ts'

async function licensed({ api, siteId }: Scene): Promise<Example> {
  await api.database.transaction((tx) => insertLicense(tx, { siteId, licenseKey: `key of ${siteId}`, now: 1 }))
  return {}
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getExtensionLicense', path: onSite('/ext'), roles: [] },
  { endpoint: 'issueExtensionLicense', path: onSite('/ext'), roles: ['plugin_management_access'] },
  { endpoint: 'revokeExtensionLicense', path: onSite('/ext'), roles: ['plugin_management_access'] },
]

const examples: Examples = { revokeExtensionLicense: licensed }

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['issueExtensionLicense', 'revokeExtensionLicense'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['issueExtensionLicense', 'revokeExtensionLicense'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['issueExtensionLicense', 'revokeExtensionLicense'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
]

const jobs: Record<string, JobSample> = {
  'extension_license.write': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, async (tx) => {
        await changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1)
        await insertLicense(tx, { siteId: world.site, licenseKey: 'the key', now: 1 })
      })
      world.host.wordpress(world.site).hasDropIn = true
      return aboutSite(world)
    },
    async done(world) {
      expect(world.host.wordpress(world.site).license).toBe('the key')
      // It would know the old value.
      expect(world.host.wordpress(world.site).flushes).toBeGreaterThan(0)
    },
  },
}

export const contract: Contract = { samples, examples, problems, jobs }
